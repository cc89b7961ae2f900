import { createHash } from "node:crypto";
import type { BlobInfo, BlobStore, Scope } from "../../src/interfaces/mod.ts";
import { columnsOf, Database, toColumn } from "../../src/storage/sqlite/database.ts";

/** Settings of {@linkcode localBlobStore}. */
export interface LocalBlobStoreOptions {
  /** Folder of `blobs.db`. */
  readonly dataDir: string;
  /** Clock, milliseconds since the epoch. */
  readonly now?: () => number;
}

/** `put_key` remembers the idempotency keys of a blob for as long as the blob is kept. */
const SCHEMA = `
create table if not exists blob(
  seq integer primary key autoincrement, id text not null unique, owner blob not null,
  namespace blob not null, size integer not null, created_at integer not null,
  bytes blob not null) strict;
create index if not exists blob_scope on blob(owner, namespace, seq);
create table if not exists put_key(
  owner blob not null, namespace blob not null, key blob not null, blob integer not null,
  primary key(owner, namespace, key)) strict, without rowid;
create index if not exists put_key_blob on put_key(blob)`;

const PAGE = 256;

/**
 * Blobs in one SQLite file, `blobs.db`. A blob's id is the SHA-256 of its scope and bytes, base64url
 * without padding: equal bytes of one scope are kept once, and no scope can name another's blobs.
 *
 * @throws {SvcError} `storage_unavailable` when the file cannot be opened or is damaged.
 */
export function localBlobStore(options: LocalBlobStoreOptions): BlobStore {
  return new LocalBlobStore(options);
}

class LocalBlobStore implements BlobStore {
  readonly erases = true;
  readonly #database: Database;
  readonly #now: () => number;

  constructor({ dataDir, now = Date.now }: LocalBlobStoreOptions) {
    this.#now = now;
    const path = `${dataDir}/blobs.db`;
    this.#database = new Database({ path, schema: SCHEMA, pageSize: 16384 });
  }

  async put(...[bytes, options]: Parameters<BlobStore["put"]>): Promise<string> {
    this.#database.check(options.signal);
    const owner = toColumn(options.owner);
    const namespace = toColumn(options.namespace);
    const key = toColumn(options.idempotencyKey);
    // A copy also of a Buffer, whose slice shares memory.
    const kept = new Uint8Array(bytes);
    const id = blobId(owner, namespace, kept);
    return await this.#database.write(() => {
      const sql = `select blob.id from put_key join blob on blob.seq = put_key.blob
         where put_key.owner = ? and put_key.namespace = ? and key = ?`;
      const first = this.#database.get<{ id: string }>(sql, owner, namespace, key);
      if (first !== undefined) return first.id;
      const known = this.#database.get<{ seq: number }>("select seq from blob where id = ?", id);
      const seq = known?.seq ?? this.#database.run(
        "insert into blob(id, owner, namespace, size, created_at, bytes) values(?, ?, ?, ?, ?, ?)",
        id,
        owner,
        namespace,
        kept.length,
        options.storedAt ?? this.#now(),
        kept,
      );
      this.#database.run("insert into put_key values(?, ?, ?, ?)", owner, namespace, key, seq);
      return id;
    }, options.signal);
  }

  async get(...[id, scope, options]: Parameters<BlobStore["get"]>) {
    await Promise.resolve();
    this.#database.check(options?.signal);
    const sql = "select bytes from blob where id = ? and owner = ? and namespace = ?";
    return this.#database.get<{ bytes: Uint8Array }>(sql, id, ...columnsOf(scope))?.bytes;
  }

  async *list(...[scope, options]: Parameters<BlobStore["list"]>): AsyncGenerator<BlobInfo> {
    let before = Number.MAX_SAFE_INTEGER;
    for (;;) {
      await Promise.resolve();
      this.#database.check(options?.signal);
      const sql = `select seq, id as blobId, size as bytes, created_at as createdAt from blob
         where owner = ? and namespace = ? and seq < ? order by seq desc limit ${PAGE}`;
      const rows = this.#database.all<BlobInfo & { seq: number }>(sql, ...columnsOf(scope), before);
      for (const { seq, blobId, bytes, createdAt } of rows) {
        options?.signal?.throwIfAborted();
        before = seq;
        yield { blobId, bytes, ...(createdAt === undefined ? {} : { createdAt }) };
      }
      if (rows.length < PAGE) return;
    }
  }

  async delete(id: string, scope: Scope, options?: { signal?: AbortSignal | undefined }) {
    return await this.#database.write(() => {
      const sql = "select seq from blob where id = ? and owner = ? and namespace = ?";
      const row = this.#database.get<{ seq: number }>(sql, id, ...columnsOf(scope));
      if (row === undefined) return true;
      this.#database.run("delete from put_key where blob = ?", row.seq);
      this.#database.run("delete from blob where seq = ?", row.seq);
      return true;
    }, options?.signal);
  }

  async scrub(): Promise<void> {
    await this.#database.scrub();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database.close();
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
