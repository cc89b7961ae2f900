const STEPS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ["year", 31_536_000],
  ["month", 31_536_000 / 12],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** A moment relative to now, such as `3 minutes ago` or `in 23 hours`. */
export function ago(time: string, now: number = Date.now()): string {
  const seconds = (Date.parse(time) - now) / 1000;
  for (const [unit, size] of STEPS) {
    // Not rounded up: the next unit begins there.
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return Math.abs(seconds) < 10 ? "just now" : relative.format(Math.round(seconds), "second");
}
