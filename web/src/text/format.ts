/** A moment in full, in the reader's time zone. */
export function inFull(time: string): string {
  return new Date(time).toLocaleString("en", {
    dateStyle: "long",
    timeStyle: "short",
  });
}

/** Bytes with a unit, such as `12.3 kB`. */
export function bytesText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** A count with its noun, such as `1 memory`. */
export function count(n: number, one: string, many: string): string {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

/** The two ends of a long id, such as `0x12ab…cd34`. */
export function shortId(id: string): string {
  return id.length <= 14 ? id : `${id.slice(0, 6)}…${id.slice(-4)}`;
}
