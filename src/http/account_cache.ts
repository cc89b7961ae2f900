import { BoundedMap } from "../bounded_map.ts";
import { SvcError } from "../errors.ts";
import type { Account, AccountRegistry, DelegateKey } from "../interfaces/mod.ts";
import type { RelayerConfig } from "../interfaces/config.ts";
import type { AddressLimiter } from "./limits/address_limits.ts";
import type { Layer } from "./limits/rate_limit.ts";
import { limitKey } from "../wire/ip_addresses.ts";

const MAX_ENTRIES = 10_000;

/** How long a failed registry is not asked again about cached accounts, in milliseconds. */
const RETRY_MS = 5_000;

interface Entry {
  readonly account: Account | undefined;
  /** When the registry answered. */
  readonly at: number;
  /** Whether the entry may be used without asking the registry while it is young. */
  fresh: boolean;
  /** When the registry was last asked and failed. */
  failedAt?: number;
}

export interface Authorization {
  readonly account: Account;
  readonly key: DelegateKey;
}

interface CacheCounts {
  /** Answered from memory. */
  hit: number;
  /** Asked the registry. */
  miss: number;
  /** Answered from memory because the registry was down. */
  stale: number;
}

/** Public key and hint to account (docs/protocol.md#4.5), cached. */
export class AccountCache {
  readonly #registry: AccountRegistry;
  readonly #config: RelayerConfig;
  readonly #now: () => number;
  readonly #limiter: AddressLimiter;
  readonly #layer: Layer;
  readonly #entries = new BoundedMap<string, Entry>(MAX_ENTRIES);
  readonly #watch: Disposable | undefined;
  /** Changes reported while the registry is being asked: its answer may be older than they are. */
  readonly #asking = new Set<{ all: boolean; readonly ids: Set<string> }>();
  /** Look-ups under way, by key and hint. */
  readonly #running = new Map<string, Promise<Account | undefined>>();
  /** Look-ups that are being counted. */
  readonly #paying = new Map<string, Promise<void>>();
  readonly counts: CacheCounts = { hit: 0, miss: 0, stale: 0 };

  /** Listens to the registry until disposed. */
  constructor(
    registry: AccountRegistry,
    config: RelayerConfig,
    limiter: AddressLimiter,
    now: () => number,
  ) {
    this.#registry = registry;
    this.#config = config;
    this.#now = now;
    this.#limiter = limiter;
    this.#layer = { name: "account_lookup_ip", limit: config.accountLookupsPerMinute, seconds: 60 };
    this.#watch = registry.watch?.((accountId) => this.#changed(accountId));
  }

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
    const found = await this.find(publicKey, hint, clientAddress);
    if (found?.account.active !== true) throw new SvcError("account_not_authorized");
    return found;
  }

  /**
   * The account that lists the key, unexpired, whether or not it is switched on.
   *
   * @param publicKey 64 lower-case hex characters.
   * @param hint `x-account-id`, lower case; final when it does not match.
   * @throws {SvcError} `chain_unavailable`, `rate_limited`.
   */
  async find(
    publicKey: string,
    hint: string | undefined,
    clientAddress: string,
  ): Promise<Authorization | undefined> {
    const account = await this.#account(publicKey, hint, clientAddress);
    const key = account?.keys.find((item) => item.publicKey === publicKey);
    if (account === undefined || key === undefined) return undefined;
    const isOver = key.expiresAt !== undefined && key.expiresAt <= this.#now();
    return isOver ? undefined : { account, key };
  }

  async #account(
    publicKey: string,
    hint: string | undefined,
    clientAddress: string,
  ): Promise<Account | undefined> {
    const id = `${publicKey} ${hint ?? ""}`;
    const entry = this.#entries.get(id);
    if (entry !== undefined && this.#isFresh(entry)) {
      this.counts.hit++;
      return entry.account;
    }
    if (entry?.failedAt !== undefined && this.#mayStandIn(entry)) {
      // Nobody waits for a registry that failed; one caller in a while has it asked again.
      if (this.#since(entry.failedAt) >= RETRY_MS) {
        entry.failedAt = this.#now();
        void this.#ask(id, publicKey, hint).catch(() => {});
      }
      this.counts.stale++;
      return entry.account;
    }
    // Who joins a question costs the registry nothing.
    const counted = this.#running.has(id) ? undefined : this.#spend(id, clientAddress);
    // Where nobody has to be asked, nobody comes in between.
    if (counted !== undefined) await counted;
    try {
      return await this.#ask(id, publicKey, hint);
    } catch (cause) {
      // Unless a change of this very account was told meanwhile.
      if (entry !== undefined && this.#entries.get(id) === entry && this.#mayStandIn(entry)) {
        entry.failedAt = this.#now();
        this.counts.stale++;
        return entry.account;
      }
      throw new SvcError("chain_unavailable", undefined, { cause });
    }
  }

  /** Counts a look-up; who comes while other relayers are asked joins as well. */
  #spend(id: string, clientAddress: string): Promise<void> | undefined {
    const charge = { layer: this.#layer, key: limitKey(clientAddress) };
    const spent = this.#paying.get(id) ?? this.#limiter.spend([charge], 1);
    if (!(spent instanceof Promise)) return undefined;
    this.#paying.set(id, spent);
    return spent.finally(() => {
      if (this.#paying.get(id) === spent) this.#paying.delete(id);
    });
  }

  /** Asks the registry; callers with the same question share one look-up. */
  #ask(id: string, publicKey: string, hint: string | undefined): Promise<Account | undefined> {
    const running = this.#running.get(id);
    if (running !== undefined) return running;
    const asked = this.#askAnew(id, publicKey, hint).finally(() => {
      if (this.#running.get(id) === asked) this.#running.delete(id);
    });
    this.#running.set(id, asked);
    return asked;
  }

  /** Asks the registry and caches its answer, unless the account changed meanwhile. */
  async #askAnew(
    id: string,
    publicKey: string,
    hint: string | undefined,
  ): Promise<Account | undefined> {
    this.counts.miss++;
    const changed = { all: false, ids: new Set<string>() };
    this.#asking.add(changed);
    try {
      const account = await this.#lookUp(publicKey, hint);
      const { all, ids } = changed;
      const isOld = account === undefined ? all || ids.size > 0 : ids.has(account.accountId);
      if (!isOld) this.#entries.set(id, { account, at: this.#now(), fresh: !all });
      return account;
    } finally {
      this.#asking.delete(changed);
    }
  }

  #isFresh({ account, at, fresh }: Entry): boolean {
    const ttl = account === undefined
      ? this.#config.accountNegativeTtlSeconds
      : this.#config.accountCacheTtlSeconds;
    return fresh && this.#since(at) < ttl * 1000;
  }

  /** Whether an entry is better than none while the registry cannot be asked. */
  #mayStandIn({ account, at }: Entry): boolean {
    return account !== undefined && this.#since(at) < this.#config.accountStaleSeconds * 1000;
  }

  /** Age in milliseconds; infinite for what never happened, and when the clock was set back. */
  #since(moment = Infinity): number {
    const age = this.#now() - moment;
    return age >= 0 ? age : Infinity;
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

  /**
   * What an account's entries say is wrong once it changed. Where anything may have changed they
   * are asked for again, but stay for the case that nobody answers.
   */
  #changed(accountId: string | undefined): void {
    // An answer that is on its way may be from before: later callers ask again.
    this.#running.clear();
    for (const changed of this.#asking) {
      if (accountId === undefined) changed.all = true;
      else changed.ids.add(accountId);
    }
    for (const [id, entry] of this.#entries) {
      const { account } = entry;
      // Negative entries go too: a key may have been added.
      if (account === undefined || account.accountId === accountId) this.#entries.delete(id);
      else if (accountId === undefined) {
        entry.fresh = false;
        delete entry.failedAt;
      }
    }
  }
}
