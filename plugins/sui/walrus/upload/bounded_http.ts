import { type Bounds, exchange, ExchangeFailure } from "../exchange.ts";
import { StepFailure } from "./failure.ts";

const NAMES = { relay: "the upload relay", publisher: "the publisher" };

/**
 * A `fetch` for a relay or publisher, of which each call is an {@linkcode exchange}. It throws
 * {@linkcode StepFailure}.
 */
export function boundedHttp(bounds: Bounds & { readonly part: keyof typeof NAMES }): typeof fetch {
  const { part } = bounds;
  return async (input, init = {}) => {
    try {
      // A Blob, because fetch repeats a request with bytes when its connection breaks.
      const { body } = init;
      const once = body instanceof Uint8Array ? { body: new Blob([new Uint8Array(body)]) } : {};
      const bytes = await exchange(input, { ...init, ...once }, bounds);
      return new Response(bytes, { headers: { "content-type": "application/json" } });
    } catch (cause) {
      const { message, pauseMs = 0 } = cause instanceof ExchangeFailure
        ? cause
        : new ExchangeFailure("cannot be reached");
      throw new StepFailure("unreachable", part, `${NAMES[part]} ${message}`, { cause, pauseMs });
    }
  };
}
