const DAY_MS = 86_400_000;

/** The day of a moment; of a moment today its time as well. */
export function dayText(time: string, now = Date.now()): string {
  const at = new Date(time);
  // What is known by its day only is midnight in UTC, and the same day for every reader.
  if (at.getTime() % DAY_MS === 0) {
    return at.toLocaleDateString("en", { dateStyle: "long", timeZone: "UTC" });
  }
  if (at.toDateString() === new Date(now).toDateString()) {
    return `${at.toLocaleTimeString("en", { timeStyle: "short" })} today`;
  }
  return at.toLocaleDateString("en", { dateStyle: "long" });
}
