import { retryAfterOf } from "../../../shared/retry_after.ts";
import { SvcError } from "../../../../src/errors.ts";
import type { Secret } from "../../../../src/interfaces/plugin.ts";
import { gather } from "../../../../src/wire/body/read_body.ts";

/** Longest wait for an answer, milliseconds; an execution waits for the chain. */
export const TIMEOUT_MS = 30_000;
/** Most bytes of an answer: a transaction of 128 KiB in base64, and some. */
const MAX_BYTES = 256 * 1024;

/** A request to Enoki. */
interface EnokiRequest {
  /** Address. */
  readonly url: string;
  /** Sent as JSON. */
  readonly body: unknown;
  /** Sent as bearer. */
  readonly apiKey: Secret;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
  /** Longest wait, milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Posts to Enoki and answers what is in the JSON object that comes back. Bodies of refusals are never
 * read; redirects are refused, because the key is meant for one host.
 *
 * @throws {SvcError} `sponsor_overloaded` for 429; `sponsor_upstream_error` for 401, 403, 5xx, no
 * connection and what cannot be read; `sponsor_rejected` for other refusals.
 */
export async function postToEnoki(request: EnokiRequest): Promise<Record<string, unknown>> {
  const { url, body, apiKey, signal, timeoutMs } = request;
  signal?.throwIfAborted();
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "authorization": `Bearer ${apiKey.reveal()}`,
        "content-type": "application/json",
      },
      // Not a text: fetch repeats a request with one when its connection breaks.
      body: new Blob([JSON.stringify(body)]),
      redirect: "error",
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw refusal(response);
    }
    return dataOf(JSON.parse(await readCapped(response)));
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SvcError) throw error;
    // Deno's text names the address, a parser's quotes the body: only the name is kept.
    const cause = new Error(error instanceof Error ? error.name : "unknown");
    throw new SvcError("sponsor_upstream_error", undefined, { cause });
  }
}

function refusal({ status, headers }: Response): SvcError {
  const cause = new Error(`Enoki answered with status ${status}`);
  if (status === 429) {
    const seconds = retryAfterOf(headers, Date.now());
    return new SvcError("sponsor_overloaded", undefined, {
      cause,
      ...(seconds === undefined ? {} : { retryAfter: seconds }),
    });
  }
  const isOurs = status === 401 || status === 403 || status < 400 || status >= 500;
  return new SvcError(isOurs ? "sponsor_upstream_error" : "sponsor_rejected", undefined, { cause });
}

async function readCapped(response: Response): Promise<string> {
  return new TextDecoder().decode(await gather(response, MAX_BYTES, () => new RangeError()));
}

/** The answer's `data`; an answer without one is taken as it is. */
function dataOf(answer: unknown): Record<string, unknown> {
  if (typeof answer !== "object" || answer === null) throw new TypeError();
  const { data = answer } = Object.fromEntries(Object.entries(answer));
  if (typeof data !== "object" || data === null) throw new TypeError();
  return Object.fromEntries(Object.entries(data));
}
