/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { ago } from "../../../src/client/text/relative_time.ts";
import { inFull } from "../text/format.ts";
import { dayText } from "../text/day_text.ts";

/** A moment, relative to now; in full on demand. */
export function Moment({ time }: { time: string }) {
  return <time dateTime={time} title={inFull(time)}>{ago(time)}</time>;
}

/** The day of a moment that may be long ago; in full on demand. */
export function Day({ time }: { time: string }) {
  return <time dateTime={time} title={inFull(time)}>{dayText(time)}</time>;
}
