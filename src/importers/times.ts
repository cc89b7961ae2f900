const TIME =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9})\d{0,9})?)? ?(Z|[+-]\d\d:?\d\d)?)?$/i;

const FIRST = Date.parse("0000-01-01T00:00:00.000Z");
const LAST = Date.parse("9999-12-31T23:59:59.999Z");

function written(milliseconds: number): string | undefined {
  const time = Math.floor(milliseconds);
  return time >= FIRST && time <= LAST ? new Date(time).toISOString() : undefined;
}

/**
 * A time as RFC 3339 in UTC with milliseconds.
 *
 * @param value A date, or a date and time as most programs write it, where a missing zone means
 * UTC; or seconds since the epoch, or milliseconds if there are more than 100 thousand million.
 * @returns `undefined` for anything else.
 */
export function timeOf(value: unknown): string | undefined {
  if (typeof value === "number") return written(value > 1e11 ? value : value * 1000);
  if (typeof value !== "string") return undefined;
  const match = TIME.exec(value);
  if (match === null) return undefined;
  const [, day = "", clock = "00:00", second = "00", fraction = "", zone = "Z"] = match;
  const midnight = Date.parse(`${day}T00:00Z`);
  // The parser takes 30 February for 2 March.
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return undefined;
  const offset = zone.toUpperCase().replace(/^([+-]\d\d)(\d\d)$/, "$1:$2");
  const time = Date.parse(`${day}T${clock}:${second}${offset}`);
  return written(time + Number(fraction.slice(0, 3).padEnd(3, "0")));
}
