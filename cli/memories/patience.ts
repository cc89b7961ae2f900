import { SvcError } from "../../src/client/mod.ts";
import { pause } from "../../src/deadline.ts";
import type { Session } from "../session.ts";
import type { Progress } from "./progress.ts";

/** First wait, doubled each time, and the longest one, in milliseconds. */
const FIRST_MS = 1000;
const LONGEST_MS = 60_000;
/** Waits one after the other without any progress: with the longest one, two hours. */
const MOST_WAITS = 120;

/** Milliseconds to wait before the same may succeed; `undefined` where waiting does not help. */
function waitAfter(error: unknown, waits: number): number | undefined {
  if (!(error instanceof SvcError) || !error.retryable || waits > MOST_WAITS) return undefined;
  const backoff = FIRST_MS * 2 ** Math.min(waits - 1, 10);
  return Math.min(LONGEST_MS, Math.max((error.retryAfter ?? 0) * 1000, backoff));
}

/**
 * A call that may be made again, made again for as long as the relayer is too busy for it, has a
 * limit that comes back, or is starting.
 *
 * @throws what the call throws, where waiting does not help.
 */
export async function patiently<T>(
  { io }: Pick<Session, "io">,
  progress: Progress,
  call: () => Promise<T>,
): Promise<T> {
  for (let waits = 1;; waits++) {
    try {
      return await call();
    } catch (error) {
      const wait = waitAfter(error, waits);
      if (wait === undefined) throw error;
      const seconds = Math.ceil(wait / 1000);
      progress.show(`The relayer asks to wait; going on in ${seconds} s`);
      await (io.sleep ?? pause)(wait);
    }
  }
}
