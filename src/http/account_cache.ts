import { SvcError } from "../errors.ts";
import type { Account, AccountRegistry, DelegateKey } from "../interfaces/mod.ts";
import type { RelayerConfig } from "../config.ts";
import { type Layer, RateLimiter } from "./rate_limit.ts";
import { limitKey } from "./client_ip.ts";

const MAX_ENTRIES = 10_000;

interface Entry {
  readonly account: Account | undefined;
  readonly at: number;
}

/** An account and the key that acts for it. */
export interface Authorization {
  /** The account. */
  readonly account: Account;
  /** The key that signed. */
  readonly key: DelegateKey;
}

/** Counts of look-ups, for metrics. */
export interface CacheCounts {
  /** Answered from memory. */
  hit: number;
  /** Asked the registry. */
  miss: number;
  /** Answered from memory because the registry was down. */
  stale: number;
}

/** Public key and hint to account (PROTOCOL 4.5), cached. */
export class AccountCache {
  readonly #registry: AccountRegistry;
  readonly #config: RelayerConfig;
  readonly #now: () => number;
  readonly #limiter: RateLimiter;
  readonly #layer: Layer;
  readonly #entries = new Map<string, Entry>();
  readonly #watch: Disposable | undefined;
  /** Raised by every change, so that an answer asked for before one is not kept. */
  #changes = 0;
  /** Counts of look-ups. */
  readonly counts: CacheCounts = { hit: 0, miss: 0, stale: 0 };

  /** Listens to the registry until disposed. */
  constructor(registry: AccountRegistry, config: RelayerConfig, now: () => number) {
    this.#registry = registry;
    this.#config = config;
    this.#now = now;
    this.#limiter = new RateLimiter(now);
    this.#layer = { name: "account_lookup_ip", limit: config.accountLookupsPerMinute, seconds: 60 };
    this.#watch = registry.watch?.((accountId) => this.#changed(accountId));
  }

  /** Stops listening. */
  [Symbol.dispose](): void {
    this.#watch?.[Symbol.dispose]();
  }

  /**
   * The active account that lists the key, unexpired.
   *
   * @param publicKey 64 lower-case hex characters.
   * @param hint `x-account-id`, lower case; final when it does not match.
   * @throws {SvcError} `account_not_authorized`, `chain_unavailable`, `rate_limited`.
   */
  async authorize(
    publicKey: string,
    hint: string | undefined,
    clientAddress: string,
  ): Promise<Authorization> {
    const account = await this.#account(publicKey, hint, clientAddress);
    const key = account?.keys.find((item) => item.publicKey === publicKey);
    if (account === undefined || !account.active || key === undefined) {
      throw new SvcError("account_not_authorized");
    }
    if (key.expiresAt !== undefined && key.expiresAt <= this.#now()) {
      throw new SvcError("account_not_authorized");
    }
    return { account, key };
  }

  async #account(
    publicKey: string,
    hint: string | undefined,
    clientAddress: string,
  ): Promise<Account | undefined> {
    const id = `${publicKey} ${hint ?? ""}`;
    const entry = this.#entries.get(id);
    const age = entry === undefined ? Infinity : (this.#now() - entry.at) / 1000;
    const ttl = entry?.account === undefined
      ? this.#config.accountNegativeTtlSeconds
      : this.#config.accountCacheTtlSeconds;
    if (entry !== undefined && age >= 0 && age < ttl) {
      this.counts.hit++;
      return entry.account;
    }
    this.#limiter.spend([{ layer: this.#layer, key: limitKey(clientAddress) }], 1);
    this.counts.miss++;
    const changes = this.#changes;
    try {
      const account = await this.#lookUp(publicKey, hint);
      if (changes === this.#changes) this.#keep(id, { account, at: this.#now() });
      return account;
    } catch (cause) {
      if (entry?.account !== undefined && age < this.#config.accountStaleSeconds) {
        this.counts.stale++;
        return entry.account;
      }
      throw new SvcError("chain_unavailable", undefined, { cause });
    }
  }

  async #lookUp(publicKey: string, hint: string | undefined): Promise<Account | undefined> {
    const lists = (account: Account | undefined) =>
      account?.keys.some((key) => key.publicKey === publicKey) ? account : undefined;
    if (hint !== undefined) return lists(await this.#registry.get(hint));
    const fixed = this.#config.defaultAccountId;
    if (fixed !== undefined) {
      const account = lists(await this.#registry.get(fixed));
      if (account !== undefined) return account;
    }
    return await this.#registry.resolve(publicKey);
  }

  #keep(id: string, entry: Entry): void {
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    if (this.#entries.size <= MAX_ENTRIES) return;
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }

  #changed(accountId: string | undefined): void {
    this.#changes++;
    for (const [id, { account }] of this.#entries) {
      // Negative entries go too: a key may have been added.
      if (accountId === undefined || account === undefined || account.accountId === accountId) {
        this.#entries.delete(id);
      }
    }
  }
}
