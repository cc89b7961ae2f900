import { SvcError } from "../../../../src/errors.ts";
import type { Sponsor } from "../../../../src/interfaces/mod.ts";
import type { Secret } from "../../../../src/interfaces/plugin.ts";
import { gather } from "../../../../src/wire/body/read_body.ts";
import { retryAfterOf } from "../../../shared/retry_after.ts";

/** How {@linkcode enokiSponsor} reaches Enoki and the chain. */
export interface EnokiOptions {
  /** Base of Enoki's routes, without a slash at the end. */
  readonly base: string;
  /** The network on which Enoki is to pay. */
  readonly network: "mainnet" | "testnet";
  /** The key that Enoki gave out for this application. */
  readonly apiKey: Secret;
  /** Whether the chain has executed a transaction, by its digest. */
  readonly isExecuted: (digest: string) => Promise<boolean>;
  /** Longest wait for an answer, milliseconds; 30,000 when absent. */
  readonly timeoutMs?: number;
}

const ROUTE = "/v1/transaction-blocks/sponsor";
const DIGEST = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** A sponsor that lets Enoki pay, which it contacts for every call; Enoki remembers what it sponsored. */
export function enokiSponsor(options: EnokiOptions): Sponsor {
  return {
    async sponsor({ sender, kindBytes }, { signal } = {}) {
      const { bytes, digest } = await postToEnoki(options, ROUTE, {
        network: options.network,
        transactionBlockKindBytes: kindBytes.toBase64(),
        sender,
      }, signal);
      if (typeof digest === "string" && DIGEST.test(digest) && typeof bytes === "string") {
        try {
          return { bytes: Uint8Array.fromBase64(bytes), digest };
        } catch {
          // Told below.
        }
      }
      throw unusable();
    },
    async execute({ digest, signature }, { signal } = {}) {
      // The digest becomes part of an address.
      if (!DIGEST.test(digest)) throw new SvcError("sponsorship_not_found");
      try {
        const body = { signature: signature.toBase64() };
        const answer = await postToEnoki(options, `${ROUTE}/${digest}`, body, signal);
        if (answer["digest"] !== digest) throw unusable();
      } catch (error) {
        // A refusal may mean that an earlier try, whose answer was lost, had succeeded.
        const isRefusal = error instanceof SvcError && error.code === "sponsor_rejected";
        const isDone = isRefusal && await options.isExecuted(digest).catch(() => false);
        if (!isDone) throw error;
      }
      return { digest };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function unusable(): SvcError {
  return new SvcError("sponsor_upstream_error", "The sponsor's answer cannot be used");
}

/** Longest wait for an answer, milliseconds; an execution waits for the chain. */
const TIMEOUT_MS = 30_000;
/** Most bytes of an answer: a transaction of 128 KiB in base64, and some room. */
const MAX_BYTES = 256 * 1024;

/**
 * Posts to Enoki and returns the members of the JSON object that comes back. Never reads the body of
 * a refusal, and refuses redirects, because the key is meant for one host.
 *
 * @throws {SvcError} `sponsor_overloaded` for 429; `sponsor_upstream_error` for 401, 403, 5xx, no
 * connection and what cannot be read; `sponsor_rejected` for other refusals.
 */
export async function postToEnoki(
  { base, apiKey, timeoutMs = TIMEOUT_MS }: Pick<EnokiOptions, "base" | "apiKey" | "timeoutMs">,
  route: string,
  body: unknown,
  signal: AbortSignal | undefined,
): Promise<Record<string, unknown>> {
  signal?.throwIfAborted();
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(base + route, {
      method: "POST",
      headers: {
        "authorization": `Bearer ${apiKey.reveal()}`,
        "content-type": "application/json",
      },
      // A Blob, because fetch repeats a request with a text when its connection breaks.
      body: new Blob([JSON.stringify(body)]),
      redirect: "error",
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw refusal(response);
    }
    const bytes = await gather(response, MAX_BYTES, () => new RangeError());
    return dataOf(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SvcError) throw error;
    // Only the name, because Deno's messages name the address and a parser's quotes the body.
    const cause = new Error(error instanceof Error ? error.name : "unknown");
    throw new SvcError("sponsor_upstream_error", undefined, { cause });
  }
}

function refusal({ status, headers }: Response): SvcError {
  const cause = new Error(`Enoki answered with status ${status}`);
  if (status === 429) {
    const retryAfter = retryAfterOf(headers, Date.now());
    return new SvcError("sponsor_overloaded", undefined, { cause, retryAfter });
  }
  const isOurs = status === 401 || status === 403 || status < 400 || status >= 500;
  return new SvcError(isOurs ? "sponsor_upstream_error" : "sponsor_rejected", undefined, { cause });
}

/** The answer's `data`, or the answer itself when it has none. */
function dataOf(answer: unknown): Record<string, unknown> {
  if (typeof answer !== "object" || answer === null) throw new TypeError();
  const { data = answer } = Object.fromEntries(Object.entries(answer));
  if (typeof data !== "object" || data === null) throw new TypeError();
  return Object.fromEntries(Object.entries(data));
}
