import { SvcError } from "../../../src/errors.ts";
import type {
  Account,
  AccountAdmin,
  AccountListener,
  AccountRegistry,
  CallOptions,
} from "../../../src/interfaces/mod.ts";
import { Database } from "../../../src/storage/sqlite/database.ts";
import { ACCOUNT_SCHEMA, AccountRows } from "./account_rows.ts";
import { accountIdOf, checkedKey, checkedOwner, MAX_KEYS } from "./account_rules.ts";
import { AccountWatch } from "./account_watch.ts";

/**
 * Accounts in a SQLite file that other processes may write to as well. All members are its own, so
 * that a registry around it may spread it.
 */
export class SqliteAccounts implements AccountRegistry {
  readonly #database: Database;
  readonly #rows: AccountRows;
  readonly #watch: AccountWatch;
  readonly #now: () => number;

  /**
   * @param path The file, or `:memory:`.
   * @param now Clock, milliseconds since the epoch.
   * @param pollMs Milliseconds between two looks for another process' changes.
   * @throws {SvcError} `storage_unavailable` when the file cannot be opened or is damaged.
   */
  constructor(path: string, now: () => number = Date.now, pollMs = 500) {
    this.#now = now;
    this.#database = new Database({ path, schema: ACCOUNT_SCHEMA });
    this.#rows = new AccountRows(this.#database);
    this.#watch = new AccountWatch(this.#rows, pollMs);
  }

  readonly resolve: AccountRegistry["resolve"] = (publicKey, options) =>
    this.#read(() => this.#rows.byKey(publicKey.toLowerCase()), options);

  readonly get: AccountRegistry["get"] = (accountId, options) =>
    this.#read(() => this.#rows.byId(accountId.toLowerCase()), options);

  /** Calls back when accounts changed, also by another process; dispose to stop. */
  readonly watch = (listener: AccountListener): Disposable => {
    this.#database.check(undefined);
    return this.#watch.add(listener);
  };

  readonly admin: AccountAdmin = {
    create: async (owner) => {
      const checked = checkedOwner(owner);
      const accountId = accountIdOf(checked);
      return await this.#write(accountId, () => {
        if (this.#rows.byOwner(checked) !== undefined) throw new SvcError("account_exists");
        this.#rows.add(accountId, checked);
      });
    },
    list: () => this.#read(() => this.#rows.all()),
    ofOwner: (owner) => this.#read(() => this.#rows.byOwner(owner.toLowerCase())),
    addKey: async (accountId, key) => {
      const now = this.#now();
      const checked = checkedKey(key, now);
      return await this.#change(accountId, (account) => {
        if (this.#rows.byKey(checked.publicKey) !== undefined) throw new SvcError("key_exists");
        if (account.keys.length >= MAX_KEYS) this.#removeEnded(account, now);
        this.#rows.addKey(account.accountId, checked, now);
      });
    },
    removeKey: (accountId, publicKey) => {
      const removed = publicKey.toLowerCase();
      return this.#change(accountId, ({ keys }) => {
        if (!keys.some((key) => key.publicKey === removed)) {
          throw new SvcError("not_found", "The account does not list the key");
        }
        this.#rows.removeKey(removed);
      });
    },
    setActive: (accountId, active) =>
      this.#change(accountId, ({ accountId }) => this.#rows.setActive(accountId, active)),
    adopt: async ({ accountId, owner, active, keys }) => {
      await this.#write(accountId, () => {
        const known = this.#rows.byId(accountId);
        if (known === undefined) this.#rows.add(accountId, owner);
        for (const { publicKey } of known?.keys ?? []) this.#rows.removeKey(publicKey);
        for (const key of keys) {
          if (this.#rows.byKey(key.publicKey) !== undefined) throw new SvcError("key_exists");
          this.#rows.addKey(accountId, key, key.createdAt);
        }
        this.#rows.setActive(accountId, active);
      });
    },
  };

  readonly [Symbol.asyncDispose] = async (): Promise<void> => {
    this.#watch[Symbol.dispose]();
    await this.#database.close();
  };

  async #read<T>(read: () => T, options?: CallOptions): Promise<T> {
    await Promise.resolve();
    this.#database.check(options?.signal);
    return read();
  }

  /** Changes an account that exists. */
  #change(id: string, change: (account: Account) => void): Promise<Account> {
    const accountId = id.toLowerCase();
    return this.#write(accountId, () => {
      const account = this.#rows.byId(accountId);
      if (account === undefined) throw new SvcError("not_found", "There is no such account");
      change(account);
    });
  }

  async #write(accountId: string, change: () => void): Promise<Account> {
    const { account, revision } = await this.#database.write(() => {
      change();
      return { revision: this.#rows.raise(), account: this.#rows.byId(accountId)! };
    });
    this.#watch.changed(accountId, revision);
    return account;
  }

  /** Makes room in a full account: keys that ended open nothing any more. */
  #removeEnded({ keys }: Account, now: number): void {
    const ended = keys.filter(({ expiresAt = Infinity }) => expiresAt <= now);
    if (ended.length === 0) {
      throw new SvcError("invalid_parameter", `An account has at most ${MAX_KEYS} keys`);
    }
    for (const { publicKey } of ended) this.#rows.removeKey(publicKey);
  }
}
