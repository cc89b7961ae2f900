import { SvcError } from "../../src/errors.ts";
import type {
  Account,
  AccountAdmin,
  AccountListener,
  AccountRegistry,
  CallOptions,
} from "../../src/interfaces/mod.ts";
import {
  accountIdOf,
  checkedKey,
  checkedOwner,
  MAX_KEYS,
} from "../shared/accounts/account_rules.ts";
import { AccountRows } from "./account_rows.ts";
import { AccountWatch } from "./account_watch.ts";
import type { DatabaseOptions } from "./database.ts";
import type { Statements } from "./statements.ts";
import { DatabaseShare } from "./shared_database.ts";

/** Settings of {@linkcode postgresAccounts}. */
export interface PostgresAccountsOptions extends DatabaseOptions {
  /** Clock, milliseconds since the epoch. */
  readonly now?: () => number;
  /** Milliseconds between two looks for another process' changes; 500 when absent. */
  readonly pollMs?: number;
}

/** A registry that manages its accounts itself, and tells of other processes' changes. */
export type PostgresAccounts =
  & AccountRegistry
  & Required<Pick<AccountRegistry, "admin" | "watch">>;

/**
 * Accounts in tables of a PostgreSQL database, which other relayers and the account commands of the
 * command line may change as well.
 *
 * @throws {SvcError} `storage_unavailable` when the database cannot be used; `invalid_parameter` when
 * a later version of the program wrote it.
 */
export async function postgresAccounts(
  options: PostgresAccountsOptions,
): Promise<PostgresAccounts> {
  const { now = Date.now, pollMs = 500 } = options;
  const share = await DatabaseShare.open(options);
  return new Accounts(share, now, pollMs);
}

/** All members are its own, so that a registry around it may spread it. */
class Accounts implements AccountRegistry {
  readonly #share: DatabaseShare;
  readonly #watch: AccountWatch;
  readonly #now: () => number;

  constructor(share: DatabaseShare, now: () => number, pollMs: number) {
    this.#share = share;
    this.#now = now;
    this.#watch = new AccountWatch(new AccountRows(share.database), pollMs);
  }

  readonly resolve: AccountRegistry["resolve"] = (publicKey, options) =>
    this.#read((rows) => rows.byKey(publicKey.toLowerCase()), options);

  readonly get: AccountRegistry["get"] = (accountId, options) =>
    this.#read((rows) => rows.byId(accountId.toLowerCase()), options);

  /** Calls back when accounts changed, also by another process; dispose to stop. */
  readonly watch = (listener: AccountListener): Disposable => {
    this.#share.check(undefined);
    return this.#watch.add(listener);
  };

  readonly admin: AccountAdmin = {
    create: async (owner) => {
      const checked = checkedOwner(owner);
      const accountId = accountIdOf(checked);
      return await this.#write(accountId, async (rows) => {
        if (await rows.byOwner(checked) !== undefined) throw new SvcError("account_exists");
        await rows.add(accountId, checked);
      });
    },
    list: () => this.#read((rows) => rows.all()),
    ofOwner: (owner) => this.#read((rows) => rows.byOwner(owner.toLowerCase())),
    addKey: async (accountId, key) => {
      const now = this.#now();
      const checked = checkedKey(key, now);
      return await this.#change(accountId, async (rows, account) => {
        if (await rows.byKey(checked.publicKey) !== undefined) throw new SvcError("key_exists");
        if (account.keys.length >= MAX_KEYS) await removeEnded(rows, account, now);
        await rows.addKey(account.accountId, checked, now);
      });
    },
    removeKey: (accountId, publicKey) => {
      const removed = publicKey.toLowerCase();
      return this.#change(accountId, async (rows, { keys }) => {
        if (!keys.some((key) => key.publicKey === removed)) {
          throw new SvcError("not_found", "The account does not list the key");
        }
        await rows.removeKey(removed);
      });
    },
    setActive: (accountId, active) =>
      this.#change(accountId, (rows, { accountId }) => rows.setActive(accountId, active)),
    adopt: async ({ accountId, owner, active, keys }) => {
      await this.#write(accountId, async (rows) => {
        const known = await rows.byId(accountId);
        if (known === undefined) await rows.add(accountId, owner);
        for (const { publicKey } of known?.keys ?? []) await rows.removeKey(publicKey);
        for (const key of keys) {
          if (await rows.byKey(key.publicKey) !== undefined) throw new SvcError("key_exists");
          await rows.addKey(accountId, key, key.createdAt);
        }
        await rows.setActive(accountId, active);
      });
    },
  };

  readonly [Symbol.asyncDispose] = async (): Promise<void> => {
    await this.#watch[Symbol.asyncDispose]();
    await this.#share[Symbol.asyncDispose]();
  };

  async #read<T>(read: (rows: AccountRows) => Promise<T>, options?: CallOptions): Promise<T> {
    this.#share.check(options?.signal);
    return await read(new AccountRows(this.#share.database));
  }

  /** Changes an account that exists. */
  #change(
    id: string,
    change: (rows: AccountRows, account: Account) => Promise<void>,
  ): Promise<Account> {
    const accountId = id.toLowerCase();
    return this.#write(accountId, async (rows) => {
      const account = await rows.byId(accountId);
      if (account === undefined) throw new SvcError("not_found", "There is no such account");
      await change(rows, account);
    });
  }

  async #write(
    accountId: string,
    change: (rows: AccountRows) => Promise<void>,
  ): Promise<Account> {
    this.#share.check(undefined);
    const work = async (statements: Statements) => {
      const rows = new AccountRows(statements);
      // First: changes of accounts wait for each other here.
      const revision = await rows.raise();
      await change(rows);
      return { revision, account: (await rows.byId(accountId))! };
    };
    const { revision, account } = await this.#share.database.transaction(work);
    this.#watch.changed(accountId, revision);
    return account;
  }
}

/** Makes room in a full account: keys that ended open nothing any more. */
async function removeEnded(rows: AccountRows, { keys }: Account, now: number): Promise<void> {
  const ended = keys.filter(({ expiresAt = Infinity }) => expiresAt <= now);
  if (ended.length === 0) {
    throw new SvcError("invalid_parameter", `An account has at most ${MAX_KEYS} keys`);
  }
  for (const { publicKey } of ended) await rows.removeKey(publicKey);
}
