import { createHash } from "node:crypto";
import { SvcError } from "../../src/errors.ts";
import type { BlobInfo, BlobStore } from "../../src/interfaces/mod.ts";
import { columnsOf, toColumn } from "../../src/storage/sqlite/database.ts";
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
/** Tries of a put whose blob is deleted beside it. */
const TRIES = 5;

/** Stores the bytes unless they are there, and notes the key; fails where that was used already. */
const PUT = `with stored as (
    insert into svc.blob(id, owner, namespace, size, created_at, bytes)
    values($1, $2, $3, $4, $5, $6) on conflict (id) do update set id = excluded.id returning seq)
  insert into svc.put_key(owner, namespace, key, blob) select $2, $3, $7, seq from stored`;
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

class PostgresBlobStore implements BlobStore {
  readonly erases = true;
  readonly leavesDeleted = true;
  readonly #share: DatabaseShare;
  readonly #now: () => number;

  constructor(share: DatabaseShare, now: () => number) {
    this.#share = share;
    this.#now = now;
  }

  async put(...[bytes, options]: Parameters<BlobStore["put"]>): Promise<string> {
    this.#share.check(options.signal);
    const [owner, namespace] = columnsOf(options);
    const key = toColumn(options.idempotencyKey);
    // A copy: the caller may change its bytes while they wait for a connection.
    const kept = new Uint8Array(bytes);
    const id = blobId(owner, namespace, kept);
    for (let tries = 0; tries < TRIES; tries++) {
      try {
        const { database } = this.#share;
        await database.all(PUT, id, owner, namespace, kept.length, this.#now(), kept, key);
        return id;
      } catch (error) {
        if (refusalOf(error)?.state !== TAKEN) throw error;
      }
      const first = await this.#share.database.get<{ id: string }>(FIRST, owner, namespace, key);
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
