import { SvcError } from "../../../../src/errors.ts";
import type {
  CallOptions,
  ExecutedTransaction,
  Sponsor,
  SponsoredTransaction,
  SponsorRequest,
} from "../../../../src/interfaces/mod.ts";
import type { Secret } from "../../../../src/interfaces/plugin.ts";
import { postToEnoki, TIMEOUT_MS } from "./post.ts";

/** Options of {@linkcode enokiSponsor}. */
export interface EnokiOptions {
  /** Base of Enoki's routes, without a slash at the end. */
  readonly base: string;
  /** Chain. */
  readonly network: "mainnet" | "testnet";
  /** API key. */
  readonly apiKey: Secret;
  /** Whether the chain has executed a transaction, by its digest. */
  readonly isExecuted: (digest: string) => Promise<boolean>;
  /** Longest wait for an answer, milliseconds; 30,000 when absent. */
  readonly timeoutMs?: number;
}

const ROUTE = "/v1/transaction-blocks/sponsor";
const DIGEST = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** Two routes of Enoki. It keeps what it sponsored; nothing is kept here. */
class EnokiSponsor implements Sponsor {
  readonly #options: EnokiOptions;

  constructor(options: EnokiOptions) {
    this.#options = options;
  }

  async sponsor(
    { sender, kindBytes }: SponsorRequest,
    { signal }: CallOptions = {},
  ): Promise<SponsoredTransaction> {
    const { bytes, digest } = await this.#post(ROUTE, {
      network: this.#options.network,
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
  }

  async execute(
    { digest, signature }: { readonly digest: string; readonly signature: Uint8Array },
    { signal }: CallOptions = {},
  ): Promise<ExecutedTransaction> {
    // The digest becomes part of an address.
    if (!DIGEST.test(digest)) throw new SvcError("sponsorship_not_found");
    try {
      const body = { signature: signature.toBase64() };
      const answer = await this.#post(`${ROUTE}/${digest}`, body, signal);
      if (answer["digest"] !== digest) throw unusable();
    } catch (error) {
      if (!await this.#isDone(digest, error)) throw error;
    }
    return { digest };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }

  /** Whether a refusal means that an earlier try, whose answer was lost, had succeeded. */
  async #isDone(digest: string, error: unknown): Promise<boolean> {
    if (!(error instanceof SvcError) || error.code !== "sponsor_rejected") return false;
    return await this.#options.isExecuted(digest).catch(() => false);
  }

  async #post(route: string, body: unknown, signal: AbortSignal | undefined) {
    const { base, apiKey, timeoutMs = TIMEOUT_MS } = this.#options;
    return await postToEnoki({ url: base + route, body, apiKey, signal, timeoutMs });
  }
}

function unusable(): SvcError {
  return new SvcError("sponsor_upstream_error", "The sponsor's answer cannot be used");
}

/** A sponsor that lets Enoki pay. It contacts Enoki for every call and keeps nothing. */
export function enokiSponsor(options: EnokiOptions): Sponsor {
  return new EnokiSponsor(options);
}
