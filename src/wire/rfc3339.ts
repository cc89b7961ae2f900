const CLOCK = "(?:[01]\\d|2[0-3]):[0-5]\\d";
const RFC3339 = new RegExp(
  `^(\\d{4}-\\d\\d-\\d\\d)T(${CLOCK}):([0-5]\\d|60)(?:\\.(\\d{1,3})\\d*)?(Z|[+-]${CLOCK})$`,
  "i",
);
/** Years have four digits, in answers too, which are in UTC. */
const FIRST = Date.parse("0000-01-01T00:00:00.000Z");
const LAST = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Milliseconds since the epoch of a date and time of RFC 3339; what is finer is cut off. A leap
 * second, which is the last of a day of UTC, is read as the second after it.
 *
 * @returns `NaN` for any other text, and for years that are not from 0 to 9999 in UTC.
 */
export function parseTime(text: string): number {
  const [, day = "", clock = "", second = "", fraction = "", zone = ""] = RFC3339.exec(text) ?? [];
  const midnight = Date.parse(`${day}T00:00Z`);
  // The parser takes 30 February for 2 March.
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return NaN;
  const minute = new Date(`${day}T${clock}${zone.toUpperCase()}`);
  const isLast = minute.getUTCHours() === 23 && minute.getUTCMinutes() === 59;
  if (second === "60" && !isLast) return NaN;
  const time = minute.getTime() + Number(second) * 1000 + Number(fraction.padEnd(3, "0"));
  return time >= FIRST && time <= LAST ? time : NaN;
}
