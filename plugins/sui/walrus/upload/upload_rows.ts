import type { Scope } from "../../../../src/interfaces/mod.ts";
import {
  columnsOf,
  type Database,
  fromColumn,
  type ScopeColumns,
  scopeOf,
  toColumn,
} from "../../../../src/storage/sqlite/database.ts";
import type { Encoded, NewUpload, Upload } from "./upload.ts";

/**
 * Tables of what is on its way to Walrus, in `walrus.db`.
 *
 * - `item`: what `put` was given, by scope and key, kept so that the same key has the same answer.
 *   `upload` is the blob it goes into and `identifier` its name there; `id` is its id once that blob
 *   is certified and its owner's; `bytes` are there until then.
 * - `upload`: a blob on its way. `state` is an `UploadState`.
 * - `signed`: transactions, saved before they are executed. `state` is `signed`, `done` (it was
 *   executed, with or without success) or `void` (the chain says that it can never be executed).
 */
export const UPLOAD_SCHEMA = `
create table if not exists item(
  seq integer primary key autoincrement, owner blob not null, namespace blob not null,
  key blob not null, standalone integer not null, size integer not null,
  created_at integer not null, bytes blob, upload integer, identifier text, id text,
  unique(owner, namespace, key)) strict;
create index if not exists item_waiting on item(seq) where upload is null;
create index if not exists item_upload on item(upload);
create index if not exists item_id on item(id);
create index if not exists item_unreleased on item(id) where bytes is not null;
create table if not exists upload(
  seq integer primary key autoincrement, owner blob not null, namespace blob not null,
  quilt integer not null, state text not null, created_at integer not null, tombstones text,
  key blob, blob_id text, root_hash blob, size integer, nonce blob, patches text, wallet text,
  object_id text, end_epoch integer, register integer, certificate blob, finish integer,
  asked_at integer) strict;
create index if not exists upload_open on upload(state) where state <> 'done';
create index if not exists upload_object on upload(object_id);
create unique index if not exists upload_key on upload(owner, namespace, key) where key is not null;
create table if not exists signed(
  seq integer primary key autoincrement, wallet text not null, digest text not null unique,
  bytes blob not null, signature text not null, state text not null) strict;
create index if not exists signed_open on signed(wallet) where state = 'signed'`;

type Settable = Pick<
  Upload,
  "state" | "wallet" | "objectId" | "endEpoch" | "register" | "certificate" | "finish" | "askedAt"
>;

/** Members of an upload that a step sets; one that is given as `undefined` is cleared. */
export type Progress = { readonly [Name in keyof Settable]?: Settable[Name] | undefined };

/** Back to `encoded`: nothing was executed, or the space that was paid for has ended. */
export const UNREGISTERED: Progress = {
  state: "encoded",
  wallet: undefined,
  register: undefined,
  objectId: undefined,
  endEpoch: undefined,
  certificate: undefined,
  finish: undefined,
  askedAt: undefined,
};

/** Members that are columns of the same name and value. */
type PlainColumns = Settable & Pick<Upload, "seq" | "createdAt" | "nonce">;

interface UploadRow extends ScopeColumns {
  readonly quilt: number;
  readonly key: Uint8Array | null;
  readonly tombstones: string | null;
  readonly blobId: string | null;
  readonly rootHash: Uint8Array;
  readonly size: number;
  readonly patches: string | null;
}

const SELECT =
  `select seq, owner, namespace, quilt, state, created_at as createdAt, tombstones, key,
  blob_id as blobId, root_hash as rootHash, size, nonce, patches, wallet, object_id as objectId,
  end_epoch as endEpoch, register, certificate, finish, asked_at as askedAt from upload`;

/** A transaction that was signed to be executed at most once. */
export interface SignedTransaction {
  /** Address of the wallet that signed and pays. */
  readonly wallet: string;
  /** Transaction digest, base58. */
  readonly digest: string;
  /** BCS of its data. */
  readonly bytes: Uint8Array;
  /** Serialized signature, base64. */
  readonly signature: string;
}

/** A signed transaction and its row number. */
export interface SavedTransaction extends SignedTransaction {
  readonly seq: number;
  /** Saves the look-up of a transaction that cannot have been executed yet. */
  readonly isFresh?: true;
}

/**
 * The tables `upload` and `signed` of `walrus.db`. Methods that change rows run inside
 * `database.write`.
 */
export class UploadRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Adds an upload in state `cut`; returns its number. */
  add({ quilt, createdAt, tombstones = [], key, ...scope }: NewUpload): number {
    return this.#database.run(
      `insert into upload(owner, namespace, quilt, state, created_at, tombstones, key)
       values(?, ?, ?, 'cut', ?, ?, ?)`,
      ...columnsOf(scope),
      quilt ? 1 : 0,
      createdAt,
      tombstones.length === 0 ? null : tombstones.join("\n"),
      key === undefined ? null : toColumn(key),
    );
  }

  /** Uploads that are not done, oldest first. */
  open(): Upload[] {
    return this.#database.all<UploadRow>(`${SELECT} where state <> 'done' order by seq`)
      .map(uploadOf);
  }

  get(seq: number): Upload | undefined {
    const row = this.#database.get<UploadRow>(`${SELECT} where seq = ?`, seq);
    return row && uploadOf(row);
  }

  /** The upload that stores a blob of a scope once more. */
  ofKey(scope: Scope, key: string): Upload | undefined {
    const sql = `${SELECT} where owner = ? and namespace = ? and key = ?`;
    const row = this.#database.get<UploadRow>(sql, ...columnsOf(scope), toColumn(key));
    return row && uploadOf(row);
  }

  set(seq: number, progress: Progress): void {
    const names = Object.keys(progress).map((name) =>
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    );
    this.#database.run(
      `update upload set ${names.map((name) => `${name} = ?`).join(", ")} where seq = ?`,
      ...Object.values(progress).map((value) => value ?? null),
      seq,
    );
  }

  /** `cut` to `encoded`. */
  setEncoded(seq: number, encoded: Encoded, nonce: Uint8Array): void {
    this.#database.run(
      `update upload set state = 'encoded', blob_id = ?, root_hash = ?, size = ?, patches = ?,
       nonce = ? where seq = ?`,
      encoded.blobId,
      encoded.rootHash,
      encoded.size,
      encoded.patches.map(({ identifier, id }) => `${identifier} ${id}`).join("\n"),
      nonce,
      seq,
    );
  }

  /** To `done`; drops what only the way there needed. */
  end(seq: number): void {
    const sql = `update upload set state = 'done', tombstones = null, nonce = null, patches = null,
       certificate = null where seq = ?`;
    this.#database.run(sql, seq);
    this.#database.run(
      `delete from signed where state <> 'signed' and not exists (select 1 from upload
       where state <> 'done' and (register = signed.seq or finish = signed.seq))`,
    );
  }

  /** Saves a transaction before it is executed; returns its number. */
  addSigned({ wallet, digest, bytes, signature }: SignedTransaction): number {
    return this.#database.run(
      "insert into signed(wallet, digest, bytes, signature, state) values(?, ?, ?, ?, 'signed')",
      wallet,
      digest,
      bytes,
      signature,
    );
  }

  signed(seq: number): SavedTransaction | undefined {
    const sql = "select seq, wallet, digest, bytes, signature from signed where seq = ?";
    return this.#database.get(sql, seq);
  }

  endSigned(seq: number, state: "done" | "void"): void {
    this.#database.run("update signed set state = ? where seq = ?", state, seq);
  }

  /** Whether a Blob object belongs to an upload or is stored already. */
  isTaken(objectId: string): boolean {
    const sql = `select 1 from upload where object_id = ?
       union all select 1 from stored where object_id = ?`;
    return this.#database.get(sql, objectId, objectId) !== undefined;
  }
}

function uploadOf(row: UploadRow): Upload {
  const { quilt, key, tombstones, blobId, rootHash, size, patches, ...rest } = row;
  const plain = Object.entries(rest).filter(([, value]) => value !== null);
  return {
    // The columns that are left are members of the same name, or null where there is none.
    ...Object.fromEntries(plain) as unknown as PlainColumns,
    ...scopeOf(row),
    quilt: quilt === 1,
    tombstones: tombstones?.split("\n") ?? [],
    ...(key === null ? {} : { key: fromColumn(key) }),
    ...(blobId === null ? {} : { encoded: { blobId, rootHash, size, patches: placesOf(patches) } }),
  };
}

function placesOf(patches: string | null): Encoded["patches"] {
  if (patches === null || patches === "") return [];
  return patches.split("\n").map((line) => {
    const [identifier = "", id = ""] = line.split(" ");
    return { identifier, id };
  });
}
