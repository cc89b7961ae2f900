import { type ErrorCode, SvcError } from "../errors.ts";
import type {
  BackendHealth,
  CallOptions,
  ExecutedTransaction,
  Sponsor,
  SponsoredTransaction,
  SponsorRequest,
} from "../interfaces/mod.ts";
import { gather } from "../wire/body/read_body.ts";
import type { ConnectionPool } from "../http1/http_connection.ts";
import { fetchOver } from "../http1/loopback_fetch.ts";
import { type SidecarAddress, sidecarConnections } from "../http1/sidecar_connections.ts";

/** Largest answer of the sidecar, bytes: a transaction of 128 KiB in base64. */
const MAX_ANSWER = 200_000;
/** What the sidecar may say of a call; anything else is the sponsor's failure. */
const PASSED_ON: readonly ErrorCode[] = [
  "invalid_sponsor_signature",
  "invalid_transaction",
  "sponsor_rejected",
  "sponsorship_not_found",
  "sponsor_overloaded",
];
/** What a failure says about the sponsor; other refusals say nothing. */
const HEALTH_AFTER: Partial<Record<ErrorCode, BackendHealth>> = {
  sidecar_unavailable: { status: "down", reason: "The sidecar cannot be reached" },
  sponsor_upstream_error: { status: "degraded", reason: "The last call failed" },
  sponsor_overloaded: { status: "degraded", reason: "The sponsor is overloaded" },
};
/** How long the last failure counts, milliseconds. */
const FAILURE_MS = 300_000;

interface SidecarSponsorOptions {
  /** Where the sidecar is and what proves it; absent when there is none. */
  readonly sidecar?: SidecarAddress;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
}

/** The sponsor of a relayer that holds no key: the sidecar does, and pays. */
export class SidecarSponsor implements Sponsor {
  readonly needsSidecar = true;
  readonly #connections: ConnectionPool | undefined;
  readonly #now: () => number;
  readonly #onFailure: () => void;
  #failed: { readonly at: number; readonly health: BackendHealth } | undefined;

  /** @param onFailure called when the sidecar does not answer. */
  constructor({ sidecar, now = Date.now }: SidecarSponsorOptions, onFailure: () => void) {
    this.#connections = sidecar && sidecarConnections(sidecar);
    this.#now = now;
    this.#onFailure = onFailure;
  }

  /** @throws {SvcError} what the sponsor refuses with; `sidecar_unavailable`. */
  async sponsor(request: SponsorRequest, options?: CallOptions): Promise<SponsoredTransaction> {
    const { bytes, digest } = await this.#ask("/sponsor", {
      sender: request.sender,
      transactionBlockKindBytes: request.kindBytes.toBase64(),
    }, options);
    if (typeof bytes !== "string" || typeof digest !== "string") throw unusable();
    try {
      return { bytes: Uint8Array.fromBase64(bytes), digest };
    } catch {
      throw unusable();
    }
  }

  /** @throws {SvcError} what the sponsor refuses with; `sidecar_unavailable`. */
  async execute(
    request: { readonly digest: string; readonly signature: Uint8Array },
    options?: CallOptions,
  ): Promise<ExecutedTransaction> {
    const { digest, gasMist } = await this.#ask("/sponsor/execute", {
      digest: request.digest,
      signature: request.signature.toBase64(),
    }, options);
    if (digest !== request.digest) throw unusable();
    return { digest, ...(typeof gasMist === "number" ? { gasMist } : {}) };
  }

  health(): BackendHealth {
    const failed = this.#failed;
    const isOld = failed === undefined || this.#now() - failed.at > FAILURE_MS;
    return isOld ? { status: "ok" } : failed.health;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#connections?.[Symbol.dispose]();
    return Promise.resolve();
  }

  async #ask(
    path: string,
    body: Readonly<Record<string, string>>,
    options: CallOptions = {},
  ): Promise<Readonly<Record<string, unknown>>> {
    try {
      const answer = await this.#exchange(path, body, options.signal);
      this.#failed = undefined;
      return answer;
    } catch (error) {
      options.signal?.throwIfAborted();
      this.#note(SvcError.from(error).code);
      throw error;
    }
  }

  async #exchange(
    path: string,
    body: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>> {
    if (this.#connections === undefined) {
      throw new SvcError("sidecar_unavailable", "No sidecar is configured");
    }
    let status: number;
    let answer: Readonly<Record<string, unknown>>;
    try {
      const response = await fetchOver(this.#connections)(`http://127.0.0.1${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: new TextEncoder().encode(JSON.stringify(body)),
        ...(signal === undefined ? {} : { signal }),
      });
      status = response.status;
      answer = await readAnswer(response);
    } catch (cause) {
      throw new SvcError("sidecar_unavailable", undefined, { cause });
    }
    if (status === 200) return answer;
    throw refusal(answer);
  }

  #note(code: ErrorCode): void {
    if (code === "sidecar_unavailable") this.#onFailure();
    const health = HEALTH_AFTER[code];
    if (health !== undefined) this.#failed = { at: this.#now(), health };
  }
}

function unusable(): SvcError {
  return new SvcError("sponsor_upstream_error", "The sponsor's answer cannot be used");
}

/** What an error body of the sidecar means here. */
function refusal(body: Readonly<Record<string, unknown>>): SvcError {
  const code = PASSED_ON.find((known) => known === body["code"]) ?? "sponsor_upstream_error";
  const { error, retry_after_seconds: seconds } = body;
  // The sidecar is ours, and its messages are safe for callers as everywhere.
  const message = code === body["code"] && typeof error === "string" ? error : undefined;
  return new SvcError(code, message, {
    ...(typeof seconds === "number" ? { retryAfter: seconds } : {}),
  });
}

/** A JSON object out of an answer of bounded size. */
async function readAnswer(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const tooLarge = () => new Error("The sidecar's answer is too large");
  const bytes = await gather(response, MAX_ANSWER, tooLarge);
  const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
  if (typeof value !== "object" || value === null) throw new Error("No JSON object");
  return { ...value };
}
