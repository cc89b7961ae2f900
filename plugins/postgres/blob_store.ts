import { createHash } from "node:crypto";
import { SvcError } from "../../src/errors.ts";
import type { BlobInfo, BlobStore } from "../../src/interfaces/mod.ts";
import { columnsOf, toColumn } from "../../src/storage/sqlite/database.ts";
import { Batches } from "../shared/batches.ts";
import { type DatabaseOptions, refusalOf } from "./database.ts";
import { DatabaseShare } from "./shared_database.ts";

/** Settings of {@linkcode postgresBlobStore}. */
export interface PostgresBlobStoreOptions extends DatabaseOptions {
  /** Clock, milliseconds since the epoch. */
  readonly now?: () => number;
}

const PAGE = 256;
/** SQLSTATE of a value that another row has. */
const TAKEN = "23505";
/** Blobs, and bytes, of one statement of several. */
const MOST = { items: 128, characters: 4 * 1024 * 1024 };
/** Statements under way at once. */
const LANES = 2;
/** Tries of a put whose blob is deleted beside it. */
const TRIES = 5;

/** Stores the bytes unless they are there, and notes the key; fails where that was used already. */
const PUT = `with stored as (
    insert into svc.blob(id, owner, namespace, size, created_at, bytes)
    values($1, $2, $3, $4, $5, $6) on conflict (id) do update set id = excluded.id returning seq)
  insert into svc.put_key(owner, namespace, key, blob) select $2, $3, $7, seq from stored`;
/** The same for several: where a key was used already, nothing is stored. */
const PUT_SEVERAL = `with given as (
    select * from unnest($1::text[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[],
      $6::bigint[]) as g(id, owner, namespace, bytes, key, stored_at)),
  stored as (
    insert into svc.blob(id, owner, namespace, size, created_at, bytes)
    select distinct on (id) id, owner, namespace, length(bytes), stored_at, bytes from given
    order by id
    on conflict (id) do update set id = excluded.id returning seq, id)
  insert into svc.put_key(owner, namespace, key, blob)
  select g.owner, g.namespace, g.key, s.seq from given g join stored s on s.id = g.id`;
const FIRST = `select blob.id from svc.put_key join svc.blob on blob.seq = put_key.blob
  where put_key.owner = $1 and put_key.namespace = $2 and key = $3`;

/**
 * Blobs in a table of a PostgreSQL database. A blob's id is the SHA-256 of its scope and bytes,
 * base64url without padding: equal bytes of one scope are kept once, and no scope can name another's.
 *
 * @throws {SvcError} `storage_unavailable` when the database cannot be used; `invalid_parameter` when
 * a later version of the program wrote it.
 */
export async function postgresBlobStore(options: PostgresBlobStoreOptions): Promise<BlobStore> {
  return new PostgresBlobStore(await DatabaseShare.open(options), options.now ?? Date.now);
}

interface Put {
  readonly id: string;
  readonly owner: Uint8Array;
  readonly namespace: Uint8Array;
  readonly bytes: Uint8Array;
  readonly key: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly storedAt: number;
}

class PostgresBlobStore implements BlobStore {
  readonly erases = true;
  readonly leavesDeleted = true;
  readonly #share: DatabaseShare;
  readonly #now: () => number;
  readonly #puts: Batches<Put, string>;

  constructor(share: DatabaseShare, now: () => number) {
    this.#share = share;
    this.#now = now;
    const length = ({ bytes }: Put) => bytes.length;
    this.#puts = new Batches((puts) => this.#putAll(puts), { ...MOST, lanes: LANES, length });
  }

  async put(...[bytes, options]: Parameters<BlobStore["put"]>): Promise<string> {
    this.#share.check(options.signal);
    const [owner, namespace] = columnsOf(options);
    const key = toColumn(options.idempotencyKey);
    // A copy: the caller may change its bytes while they wait for a connection.
    const kept = new Uint8Array(bytes);
    const id = blobId(owner, namespace, kept);
    const storedAt = options.storedAt ?? this.#now();
    const put = { id, owner, namespace, bytes: kept, key, storedAt };
    return await this.#puts.add(put, options.signal);
  }

  /** Stores what waits together, in one statement where no key was used before. */
  async #putAll(puts: readonly Put[]): Promise<(string | Promise<string>)[]> {
    if (puts.length > 1) {
      try {
        await this.#share.database.all(
          PUT_SEVERAL,
          puts.map(({ id }) => id),
          puts.map(({ owner }) => owner),
          puts.map(({ namespace }) => namespace),
          puts.map((put) => put.bytes),
          puts.map(({ key }) => key),
          puts.map(({ storedAt }) => storedAt),
        );
        return puts.map(({ id }) => id);
      } catch (error) {
        if (refusalOf(error) === undefined) throw error;
      }
    }
    const stored: Promise<string>[] = [];
    for (const put of puts) {
      const one = this.#putOne(put);
      stored.push(one);
      const [result] = await Promise.allSettled([one]);
      if (result.status === "fulfilled" || refusalOf(result.reason) !== undefined) continue;
      // The database does not answer: the others would wait for that as well, one by one.
      const rest = puts.slice(stored.length).map(() => Promise.reject(result.reason));
      for (const failed of rest) failed.catch(() => {});
      return [...stored, ...rest];
    }
    return stored;
  }

  async #putOne({ id, owner, namespace, bytes, key, storedAt }: Put): Promise<string> {
    const { database } = this.#share;
    for (let tries = 0; tries < TRIES; tries++) {
      try {
        await database.all(PUT, id, owner, namespace, bytes.length, storedAt, bytes, key);
        return id;
      } catch (error) {
        if (refusalOf(error)?.state !== TAKEN) throw error;
      }
      const first = await database.get<{ id: string }>(FIRST, owner, namespace, key);
      if (first !== undefined) return first.id;
    }
    throw new SvcError("storage_unavailable", "The blob is being deleted");
  }

  async get(...[id, scope, options]: Parameters<BlobStore["get"]>) {
    this.#share.check(options?.signal);
    const sql = "select bytes from svc.blob where id = $1 and owner = $2 and namespace = $3";
    const { database } = this.#share;
    const row = await database.get<{ bytes: Uint8Array }>(sql, id, ...columnsOf(scope));
    options?.signal?.throwIfAborted();
    return row?.bytes;
  }

  async *list(...[scope, options]: Parameters<BlobStore["list"]>): AsyncGenerator<BlobInfo> {
    const sql = `select seq, id as "blobId", size as bytes, created_at as "createdAt" from svc.blob
       where owner = $1 and namespace = $2 and seq < $3 order by seq desc limit ${PAGE}`;
    let before = Number.MAX_SAFE_INTEGER;
    for (;;) {
      this.#share.check(options?.signal);
      const { database } = this.#share;
      type Row = BlobInfo & { readonly seq: number };
      const rows = await database.all<Row>(sql, ...columnsOf(scope), before);
      for (const { seq, ...info } of rows) {
        options?.signal?.throwIfAborted();
        before = seq;
        yield info;
      }
      if (rows.length < PAGE) return;
    }
  }

  async delete(...[id, scope, options]: Parameters<NonNullable<BlobStore["delete"]>>) {
    this.#share.check(options?.signal);
    const sql = "delete from svc.blob where id = $1 and owner = $2 and namespace = $3";
    await this.#share.database.all(sql, id, ...columnsOf(scope));
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#share[Symbol.asyncDispose]();
  }
}

/** Each part goes in behind its length, so that no two scopes hash alike. */
function blobId(...parts: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  const length = new Uint8Array(4);
  for (const part of parts) {
    new DataView(length.buffer).setUint32(0, part.length);
    hash.update(length).update(part);
  }
  return hash.digest("base64url");
}
