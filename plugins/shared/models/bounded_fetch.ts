import { retryAfterOf } from "../retry_after.ts";
import { gather } from "../../../src/wire/body/read_body.ts";
import { statusFailure, UpstreamFailure } from "../upstream_failure.ts";

interface Bounds {
  /** Most bytes of an answer. */
  readonly maxBytes: number;
  /** Ends the exchange, also while the body is read. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Changes the headers of a request. */
  readonly prepare?: ((headers: Headers) => void) | undefined;
}

async function readCapped(response: Response, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = () => new UpstreamFailure("The model server's answer is too large");
  return await gather(response, maxBytes, tooLarge);
}

/**
 * A `fetch` for a client of a model server. The answer is read whole, within a number of bytes and
 * until the signal, and must be JSON: what the client then gets is in memory. Redirects are
 * refused, because the permission list and the API key are meant for one host. Bodies of answers
 * that say no are never read.
 */
export function boundedFetch({ maxBytes, signal, now, prepare }: Bounds): typeof fetch {
  return async (input, init = {}) => {
    const headers = new Headers(init.headers);
    prepare?.(headers);
    const { signal: own } = init;
    let response: Response;
    try {
      response = await fetch(input, {
        ...init,
        headers,
        redirect: "error",
        signal: own ? AbortSignal.any([own, signal]) : signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw new UpstreamFailure(
        error instanceof Deno.errors.NotCapable
          ? "The relayer lacks the permission to reach the model server"
          : "The model server cannot be reached",
      );
    }
    if (!response.ok) {
      await response.body?.cancel();
      throw statusFailure(response.status, retryAfterOf(response.headers, now()));
    }
    try {
      const text = new TextDecoder().decode(await readCapped(response, maxBytes));
      return Response.json(JSON.parse(text), { status: response.status });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof UpstreamFailure) throw error;
      // A parser's message may quote the body.
      throw new UpstreamFailure("The model server's answer cannot be read");
    }
  };
}
