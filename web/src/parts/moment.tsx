/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { ago } from "../../../src/client/text/relative_time.ts";
import { inFull } from "../text/format.ts";

/** A moment, relative to now; in full on demand. */
export function Moment({ time }: { time: string }) {
  return <time dateTime={time} title={inFull(time)}>{ago(time)}</time>;
}
