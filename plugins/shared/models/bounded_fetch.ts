import { gather } from "../../../src/wire/body/gathered_bytes.ts";
import { statusFailure, UpstreamFailure } from "./upstream_failure.ts";

/** Longest pause a server may ask for, in seconds. */
const MAX_RETRY_AFTER = 3600;

/** Bounds of one exchange. */
export interface Bounds {
  /** Most bytes of an answer. */
  readonly maxBytes: number;
  /** Ends the exchange, also while the body is read. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Changes the headers of a request. */
  readonly prepare?: ((headers: Headers) => void) | undefined;
}

/**
 * Seconds of a `Retry-After` header (RFC 9110, 10.2.3), at most an hour; `undefined` without one.
 */
export function retryAfterOf(headers: Headers, now: number): number | undefined {
  const raw = headers.get("retry-after")?.trim();
  if (raw === undefined || raw === "") return undefined;
  const seconds = /^\d+$/.test(raw) ? Number(raw) : Math.ceil((Date.parse(raw) - now) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER);
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
