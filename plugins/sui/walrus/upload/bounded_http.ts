import { Deadline } from "../../../../src/deadline.ts";
import { gather } from "../../../../src/wire/body/read_body.ts";
import { retryAfterOf } from "../../../shared/retry_after.ts";
import { StepFailure } from "./failure.ts";

/** Bounds of every exchange with a relay or publisher. */
interface HttpBounds {
  readonly part: "relay" | "publisher";
  /** Most bytes of an answer. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
  /** Ends every exchange. */
  readonly signal: AbortSignal;
  readonly now: () => number;
}

const NAMES = { relay: "the upload relay", publisher: "the publisher" };

/**
 * A `fetch` that reads answers whole within a number of bytes and a time. It refuses redirects,
 * because the permission list names hosts, and throws {@linkcode StepFailure} for every status but
 * 200, without reading the body.
 */
export function boundedHttp(bounds: HttpBounds): typeof fetch {
  const { part, maxBytes, timeoutMs, signal, now } = bounds;
  const failure = (text: string, cause?: unknown, pauseMs = 0) =>
    new StepFailure("unreachable", part, `${NAMES[part]} ${text}`, { cause, pauseMs });
  return async (input, init = {}) => {
    using deadline = new Deadline(timeoutMs, signal);
    try {
      // A Blob, because fetch repeats a request with bytes when its connection breaks.
      const { body } = init;
      const once = body instanceof Uint8Array ? { body: new Blob([new Uint8Array(body)]) } : {};
      const response = await fetch(input, {
        ...init,
        ...once,
        redirect: "error",
        signal: deadline.signal,
      });
      if (response.status !== 200) {
        await response.body?.cancel();
        const pauseMs = (retryAfterOf(response.headers, now()) ?? 0) * 1000;
        throw failure(`answers ${response.status}`, undefined, pauseMs);
      }
      const tooLarge = () => failure("answers with too many bytes");
      const bytes = await gather(response, maxBytes, tooLarge);
      return new Response(bytes, { headers: { "content-type": "application/json" } });
    } catch (cause) {
      if (cause instanceof StepFailure) throw cause;
      throw failure(deadline.isLate ? "did not answer in time" : "cannot be reached", cause);
    }
  };
}
