import { BoundedMap } from "../../src/bounded_map.ts";
import type { Cipher, Scope, SealedItem } from "../../src/interfaces/mod.ts";
import type { KeyStore, Sealer, WrappedKey } from "../../src/interfaces/plugin.ts";
import { columnsOf, fromColumn } from "../../src/storage/sqlite/database.ts";
import { envelopeCipher } from "../shared/records/envelope_cipher.ts";
import { keyIdOf } from "../shared/records/record.ts";
import type { DatabaseOptions } from "./database.ts";
import { DatabaseShare } from "./shared_database.ts";
import { SharedQuestions } from "./shared_questions.ts";
import type { Statements } from "./statements.ts";

/** Settings of {@linkcode postgresCipher}. */
export interface PostgresCipherOptions extends DatabaseOptions {
  /** Wraps the data keys; whoever has its key opens every record. */
  readonly sealer: Sealer;
  /** Copies of the wrapped data keys that this relayer has met. */
  readonly keys: KeyStore;
  /** Clock, milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Keys that are known to be in the database: they need not be written again. */
const MAX_KNOWN = 10_000;

/**
 * Envelope encryption under the relayer key, as of the embedded cipher, whose wrapped data keys are
 * in a table of a PostgreSQL database: a relayer with the same relayer key and nothing else opens
 * what is there.
 *
 * @throws {SvcError} `storage_unavailable` when the database cannot be used; `invalid_parameter` when
 * a later version of the program wrote it.
 */
export async function postgresCipher(options: PostgresCipherOptions): Promise<Cipher> {
  const { sealer, keys, now } = options;
  const share = await DatabaseShare.open(options);
  const shared = new SharedKeys(share.database, keys);
  const inner = envelopeCipher(sealer, keys, now);
  return {
    needsCredential: false,
    async seal(plaintext, context, options) {
      share.check(options?.signal);
      await shared.fetchNewest(context.accountId, context);
      const sealed = await inner.seal(plaintext, context, options);
      // Before the first use of a key that was just made.
      await shared.keep(sealed.keyId);
      options?.signal?.throwIfAborted();
      return sealed;
    },
    async open(items, context) {
      share.check(context.signal);
      await shared.fetch(items);
      return await inner.open(items, context);
    },
    async rotate(accountId) {
      share.check(undefined);
      await shared.nextGeneration(accountId);
      await inner.rotate(accountId);
    },
    async destroy(keyId) {
      share.check(undefined);
      await shared.remove(keyId);
      await inner.destroy(keyId);
    },
    async [Symbol.asyncDispose]() {
      await inner[Symbol.asyncDispose]();
      await share[Symbol.asyncDispose]();
    },
  };
}

interface Row {
  readonly keyId: string;
  readonly accountId: string;
  readonly owner: Uint8Array;
  readonly namespace: Uint8Array;
  readonly generation: number;
  readonly wrapped: Uint8Array;
  readonly createdAt: number;
}

const COLUMNS = `key_id as "keyId", account as "accountId", owner, namespace, generation, wrapped,
  created_at as "createdAt"`;

function keyOf({ owner, namespace, ...row }: Row): WrappedKey {
  return { ...row, owner: fromColumn(owner), namespace: fromColumn(namespace) };
}

/** Wrapped keys in the database, and this relayer's copies, which are asked in every turn. */
class SharedKeys {
  readonly #statements: Statements;
  readonly #copies: KeyStore;
  readonly #known = new BoundedMap<string, true>(MAX_KNOWN);
  readonly #newest = new SharedQuestions();

  constructor(statements: Statements, copies: KeyStore) {
    this.#statements = statements;
    this.#copies = copies;
  }

  /** Copies the account's generation, and the scope's newest key of it. */
  fetchNewest(accountId: string, { owner, namespace }: Scope): Promise<void> {
    const key = JSON.stringify([accountId, owner, namespace]);
    return this.#newest.ask(key, () => this.#fetchNewest(accountId, { owner, namespace }));
  }

  async #fetchNewest(accountId: string, scope: Scope): Promise<void> {
    const rows = await this.#statements.all<Partial<Row> & { readonly current: number }>(
      `select g.current, k.* from (
         select coalesce((select generation from svc.key_generation where account = $1), 1)
           as current) as g
       left join lateral (
         select ${COLUMNS} from svc.data_key
         where account = $1 and owner = $2 and namespace = $3 and generation = g.current
         order by created_at desc, key_id desc limit 1) as k on true`,
      accountId,
      ...columnsOf(scope),
    );
    const { current, ...row } = rows[0]!;
    while (this.#copies.generation(accountId) < current) this.#copies.nextGeneration(accountId);
    if (typeof row.keyId === "string") this.#copy(row as Row);
  }

  /** Copies the keys of records that are not here. */
  async fetch(items: readonly SealedItem[]): Promise<void> {
    const missing = new Set<string>();
    for (const { record } of items) {
      const keyId = readableKeyId(record);
      if (keyId !== undefined && this.#copies.get(keyId) === undefined) missing.add(keyId);
    }
    if (missing.size === 0) return;
    const sql = `select ${COLUMNS} from svc.data_key where key_id = any($1::text[])`;
    for (const row of await this.#statements.all<Row>(sql, [...missing])) this.#copy(row);
  }

  /** Writes a key to the database, unless it is there. */
  async keep(keyId: string): Promise<void> {
    if (this.#known.has(keyId)) return;
    const key = this.#copies.get(keyId);
    if (key === undefined) return;
    await this.#statements.all(
      `insert into svc.data_key(key_id, account, owner, namespace, generation, wrapped, created_at)
       values($1, $2, $3, $4, $5, $6, $7) on conflict (key_id) do nothing`,
      keyId,
      key.accountId,
      ...columnsOf(key),
      key.generation,
      key.wrapped,
      key.createdAt,
    );
    this.#known.set(keyId, true);
  }

  /** Starts the next generation, for every relayer. */
  async nextGeneration(accountId: string): Promise<void> {
    await this.#statements.all(
      `insert into svc.key_generation as g (account, generation) values($1, $2)
       on conflict (account) do update
         set generation = greatest(g.generation + 1, excluded.generation)`,
      accountId,
      this.#copies.generation(accountId) + 1,
    );
  }

  async remove(keyId: string): Promise<void> {
    await this.#statements.all("delete from svc.data_key where key_id = $1", keyId);
    this.#known.delete(keyId);
  }

  #copy(row: Row): void {
    this.#copies.put(keyOf(row));
    this.#known.set(row.keyId, true);
  }
}

/** The key that a record names; `undefined` for bytes that are no record, which the cipher refuses. */
function readableKeyId(record: Uint8Array): string | undefined {
  try {
    return keyIdOf(record);
  } catch {
    return undefined;
  }
}
