import { SvcClient } from "../client/client.ts";
import type { SvcClientOptions } from "../client/options.ts";
import { SvcConnectionError } from "../client/failures.ts";
import { SvcError } from "../errors.ts";
import { HEADER } from "../wire/headers.ts";
import { homeAmong } from "../wire/keys.ts";
import type { Bearer, BearerSecret, TokenSecret } from "./bearer.ts";
import type { SidecarOptions } from "./options.ts";

/** How long a successful check of key and account counts, in milliseconds. */
const CHECK_MS = 1000;
/** Waiting for a relayer that is gone is the host's decision, not ours. */
const RETRY = { attempts: 3, baseDelayMs: 100, maxDelayMs: 2000 };

/** What a client of the relayer signs with. */
type ClientSecret = Pick<SvcClientOptions, "privateKey" | "sessionToken">;

/** Someone whose key signs: a client of the relayer, and when the account was last checked. */
export class Principal {
  /** Identifies key and account. */
  readonly hash: string;
  /** Signs for the key, in the name of the client's address. */
  readonly client: SvcClient;
  readonly #now: () => number;
  readonly #clientOf: (secret: ClientSecret) => SvcClient;
  /** The token in use; absent where the key itself signs. */
  #token: string | undefined;
  /** When it ends, once the relayer has opened it. */
  #tokenEnd = -Infinity;
  #checkedAt = -Infinity;
  #checking: Promise<void> | undefined;
  #mayManage = false;
  #namespace: string | undefined;
  #publicKey: string | undefined;

  /** Of well-formed credentials; nothing is sent yet. */
  constructor({ secret, accountId, hash }: Bearer, clientIp: string, options: SidecarOptions) {
    this.hash = hash;
    this.#now = options.now ?? Date.now;
    this.#token = secret.token;
    const { relayerUrl, token: _token, limits: _limits, logger: _logger, webUrl: _web, ...given } =
      options;
    this.#clientOf = (signs) =>
      new SvcClient({
        ...given,
        ...signs,
        baseUrl: relayerUrl,
        accountId,
        // The relayer's internal listener has no name that another relayer could ask with.
        form: "nonce",
        headers: { [HEADER.clientIp]: clientIp },
        retry: RETRY,
      });
    const isKey = secret.token === undefined;
    this.client = this.#clientOf(isKey ? secret : { sessionToken: () => this.#token! });
  }

  /** Whether its key may correct and delete memories by tools, as far as the relayer has said. */
  get mayManage(): boolean {
    return this.#mayManage;
  }

  /** Namespace of calls that name none, as its token chooses it, or its key. */
  get namespace(): string | undefined {
    return this.#namespace;
  }

  /** Its public key, as far as the relayer has said. */
  get publicKey(): string | undefined {
    return this.#publicKey;
  }

  /**
   * Asks the relayer whether the account lists the key, unless it said so within the last second.
   *
   * @param secret What the request brings; a renewed token takes the place of the one before.
   * @param onRevoked Called when it does not any more: nothing of this principal can go on.
   * @throws {SvcError} `account_not_authorized`, `chain_unavailable`, `rate_limited` and the like;
   * `sidecar_unavailable` when the relayer does not answer.
   */
  async check(secret?: BearerSecret, onRevoked?: () => unknown): Promise<void> {
    if (secret?.token !== undefined && secret.token !== this.#token) return this.#renew(secret);
    if (this.#now() - this.#checkedAt < CHECK_MS) return;
    // Requests that arrive together ask once.
    this.#checking ??= this.#ask(this.client).finally(() => this.#checking = undefined);
    try {
      await this.#checking;
    } catch (error) {
      if (error instanceof SvcError && error.status === 401) await onRevoked?.();
      throw error;
    }
  }

  /** Goes on with another token. Anybody can write one that claims this key: it is opened first. */
  async #renew({ token, expiresAt }: TokenSecret): Promise<void> {
    await this.#ask(this.#clientOf({ sessionToken: () => token }));
    // Of requests that cross each other the one before may arrive last.
    if (expiresAt <= this.#tokenEnd) return;
    this.#token = token;
    this.#tokenEnd = expiresAt;
  }

  async #ask(client: SvcClient): Promise<void> {
    const started = this.#now();
    try {
      const { key, token } = await client.account();
      this.#namespace = token?.namespace ?? homeAmong(key.namespaces);
      this.#publicKey = key.public_key;
      this.#mayManage = key.permissions.includes("manage");
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
