import type { MemoryQuery } from "../../../../src/client/requests.ts";

/** Which memories are shown, by when they are true. */
export interface ShownTime {
  /** Whether what is over is shown as well. */
  readonly withOver: boolean;
  /** The day at whose end they have to be true, as `2026-03-01`; empty for now. */
  readonly day: string;
}

/** What counts now. */
export const NOW: ShownTime = { withOver: false, day: "" };

/** Earlier days are those of a year that is still being typed. */
const FIRST_DAY = "1900-01-01";

/** Whether another time than now is looked at. */
export function isPast({ day }: ShownTime): boolean {
  return day >= FIRST_DAY;
}

/** The same, as requests have it. */
export function timeQuery(time: ShownTime): Pick<MemoryQuery, "include" | "as_of"> {
  return {
    ...(time.withOver ? { include: "history" as const } : {}),
    // The reader's day, to its end.
    ...(isPast(time) ? { as_of: new Date(`${time.day}T23:59:59.999`).toISOString() } : {}),
  };
}
