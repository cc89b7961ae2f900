import { SvcClient } from "../client/client.ts";
import { SvcConnectionError } from "../client/failures.ts";
import { SvcError } from "../errors.ts";
import { HEADER } from "../wire/headers.ts";
import type { Bearer } from "./bearer.ts";
import type { SidecarOptions } from "./options.ts";

/** How long a successful check of key and account counts, in milliseconds. */
const CHECK_MS = 1000;
/** Waiting for a relayer that is gone is the host's decision, not ours. */
const RETRY = { attempts: 3, baseDelayMs: 100, maxDelayMs: 2000 };

/** Someone whose key signs: a client of the relayer, and when the account was last checked. */
export class Principal {
  /** Identifies key and account. */
  readonly hash: string;
  /** Signs for the key, in the name of the client's address. */
  readonly client: SvcClient;
  readonly #now: () => number;
  #checkedAt = -Infinity;
  #checking: Promise<void> | undefined;

  /** Of well-formed credentials; nothing is sent yet. */
  constructor(bearer: Bearer, clientIp: string, options: SidecarOptions) {
    this.hash = bearer.hash;
    this.#now = options.now ?? Date.now;
    const { relayerUrl, token: _token, limits: _limits, logger: _logger, ...given } = options;
    this.client = new SvcClient({
      ...given,
      baseUrl: relayerUrl,
      privateKey: bearer.privateKey,
      accountId: bearer.accountId,
      // The relayer's internal listener has no name that another relayer could ask with.
      form: "nonce",
      headers: { [HEADER.clientIp]: clientIp },
      retry: RETRY,
    });
  }

  /**
   * Asks the relayer whether the account lists the key, unless it said so within the last second.
   *
   * @param onRevoked Called when it does not any more: nothing of this principal can go on.
   * @throws {SvcError} `account_not_authorized`, `chain_unavailable`, `rate_limited` and the like;
   * `sidecar_unavailable` when the relayer does not answer.
   */
  async check(onRevoked?: () => unknown): Promise<void> {
    if (this.#now() - this.#checkedAt < CHECK_MS) return;
    // Requests that arrive together ask once.
    this.#checking ??= this.#ask().finally(() => this.#checking = undefined);
    try {
      await this.#checking;
    } catch (error) {
      if (error instanceof SvcError && error.status === 401) await onRevoked?.();
      throw error;
    }
  }

  async #ask(): Promise<void> {
    const started = this.#now();
    try {
      await this.client.account();
    } catch (cause) {
      if (cause instanceof SvcConnectionError) {
        throw new SvcError("sidecar_unavailable", "The relayer does not answer", { cause });
      }
      if (!(cause instanceof SvcError && isPastTheAccount(cause))) throw cause;
    }
    this.#checkedAt = started;
  }
}

/** Refusals of checks that come after the account's (docs/protocol.md#4.3). */
function isPastTheAccount({ code, extra }: SvcError): boolean {
  if (code === "rate_limited") return extra?.layer !== "account_lookup_ip";
  return code === "permission_denied";
}
