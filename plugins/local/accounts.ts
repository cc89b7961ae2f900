import { SvcError } from "../../src/errors.ts";
import type {
  Account,
  AccountAdmin,
  AccountListener,
  AccountRegistry,
  CallOptions,
  NewKey,
} from "../../src/interfaces/mod.ts";
import { ACCOUNT_SCHEMA, AccountRows } from "./account_rows.ts";
import { accountIdOf, checkedKey, checkedOwner, MAX_KEYS } from "./account_rules.ts";
import { AccountWatch } from "./account_watch.ts";
import { Database } from "../../src/storage/sqlite/database.ts";

/** Settings of {@linkcode localAccounts}. */
export interface LocalAccountsOptions {
  /** Folder of `core.db`. */
  readonly dataDir: string;
  /** Clock, milliseconds since the epoch. */
  readonly now?: () => number;
  /** Milliseconds between two looks for another process' changes; 500 when absent. */
  readonly pollMs?: number;
}

/** A registry that manages its accounts itself. */
export interface LocalAccounts extends AccountRegistry {
  /** Calls back when accounts changed, also by another process; dispose to stop. */
  watch(listener: AccountListener): Disposable;
  /** Changes accounts. */
  readonly admin: AccountAdmin;
}

/**
 * Accounts in one SQLite file, `core.db`, shared with the relayer's own tables and with other
 * processes, such as the account commands of the command line.
 *
 * @throws {SvcError} `storage_unavailable` when the file cannot be opened or is damaged.
 */
export function localAccounts(options: LocalAccountsOptions): LocalAccounts {
  return new Registry(options);
}

class Registry implements LocalAccounts {
  readonly admin: AccountAdmin;
  readonly #database: Database;
  readonly #rows: AccountRows;
  readonly #watch: AccountWatch;
  readonly #now: () => number;

  constructor({ dataDir, now = Date.now, pollMs = 500 }: LocalAccountsOptions) {
    this.#now = now;
    this.#database = new Database({ path: `${dataDir}/core.db`, schema: ACCOUNT_SCHEMA });
    this.#rows = new AccountRows(this.#database);
    this.#watch = new AccountWatch(this.#rows, pollMs);
    this.admin = {
      create: (owner) => this.#create(owner),
      list: () => this.#read(() => this.#rows.all()),
      ofOwner: (owner) => this.#read(() => this.#rows.byOwner(owner.toLowerCase())),
      addKey: (accountId, key) => this.#addKey(accountId, key),
      removeKey: (accountId, publicKey) => this.#removeKey(accountId, publicKey),
      setActive: (accountId, active) =>
        this.#change(accountId, ({ accountId }) => this.#rows.setActive(accountId, active)),
    };
  }

  resolve(publicKey: string, options?: CallOptions): Promise<Account | undefined> {
    return this.#read(() => this.#rows.byKey(publicKey.toLowerCase()), options);
  }

  get(accountId: string, options?: CallOptions): Promise<Account | undefined> {
    return this.#read(() => this.#rows.byId(accountId.toLowerCase()), options);
  }

  watch(listener: AccountListener): Disposable {
    this.#database.check(undefined);
    return this.#watch.add(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watch[Symbol.dispose]();
    await this.#database.close();
  }

  async #read<T>(read: () => T, options?: CallOptions): Promise<T> {
    await Promise.resolve();
    this.#database.check(options?.signal);
    return read();
  }

  async #create(owner: string): Promise<Account> {
    const checked = checkedOwner(owner);
    const accountId = accountIdOf(checked);
    return await this.#write(accountId, () => {
      if (this.#rows.byOwner(checked) !== undefined) throw new SvcError("account_exists");
      this.#rows.add(accountId, checked);
    });
  }

  async #addKey(accountId: string, key: NewKey): Promise<Account> {
    const now = this.#now();
    const checked = checkedKey(key, now);
    return await this.#change(accountId, (account) => {
      if (this.#rows.byKey(checked.publicKey) !== undefined) throw new SvcError("key_exists");
      if (account.keys.length >= MAX_KEYS) {
        // Keys that ended open nothing any more: they make room.
        const ended = account.keys.filter(({ expiresAt = Infinity }) => expiresAt <= now);
        if (ended.length === 0) {
          throw new SvcError("invalid_parameter", `An account has at most ${MAX_KEYS} keys`);
        }
        for (const { publicKey } of ended) this.#rows.removeKey(publicKey);
      }
      this.#rows.addKey(account.accountId, checked, now);
    });
  }

  async #removeKey(accountId: string, publicKey: string): Promise<Account> {
    const removed = publicKey.toLowerCase();
    return await this.#change(accountId, (account) => {
      if (!account.keys.some((key) => key.publicKey === removed)) {
        throw new SvcError("not_found", "The account does not list the key");
      }
      this.#rows.removeKey(removed);
    });
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
}
