import type { Scope } from "../../../../../src/interfaces/mod.ts";
import {
  columnsOf,
  type Database,
  fromColumn,
  scopeOf,
  toColumn,
} from "../../../../../src/storage/sqlite/database.ts";
import type { UploadState } from "./schema.ts";
import type { Encoded, PatchPlace, Upload } from "../upload.ts";

interface UploadRow {
  seq: number;
  owner: Uint8Array;
  namespace: Uint8Array;
  quilt: number;
  state: UploadState;
  created_at: number;
  tombstones: string | null;
  key: Uint8Array | null;
  blob_id: string | null;
  root_hash: Uint8Array | null;
  size: number | null;
  nonce: Uint8Array | null;
  patches: string | null;
  wallet: string | null;
  object_id: string | null;
  end_epoch: number | null;
  register: number | null;
  certificate: Uint8Array | null;
  finish: number | null;
  asked_at: number | null;
}

/** A new upload. */
export interface NewUpload extends Scope {
  /** Whether it is a quilt. */
  readonly quilt: boolean;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Deleted ids that it tells. */
  readonly tombstones?: readonly string[];
  /** Key of a blob that is stored once more. */
  readonly key?: string;
}

/** Uploads in `walrus.db`; what changes something runs inside `database.write`. */
export class UploadRows {
  readonly #database: Database;

  /** Rows of an open file that has the tables of `UPLOAD_SCHEMA`. */
  constructor(database: Database) {
    this.#database = database;
  }

  /** Adds an upload in state `cut`; answers its number. */
  add({ owner, namespace, quilt, createdAt, tombstones = [], key }: NewUpload): number {
    return this.#database.run(
      `insert into upload(owner, namespace, quilt, state, created_at, tombstones, key)
       values(?, ?, ?, 'cut', ?, ?, ?)`,
      ...columnsOf({ owner, namespace }),
      quilt ? 1 : 0,
      createdAt,
      tombstones.length === 0 ? null : tombstones.join("\n"),
      key === undefined ? null : toColumn(key),
    );
  }

  /** Uploads that are not done, oldest first. */
  open(): Upload[] {
    const sql = "select * from upload where state <> 'done' order by seq";
    return this.#database.all<UploadRow>(sql).map(uploadOf);
  }

  /** An upload by its number. */
  get(seq: number): Upload | undefined {
    const row = this.#database.get<UploadRow>("select * from upload where seq = ?", seq);
    return row === undefined ? undefined : uploadOf(row);
  }

  /** The upload that stores a blob of a scope once more. */
  ofKey(scope: Scope, key: string): Upload | undefined {
    const row = this.#database.get<UploadRow>(
      "select * from upload where owner = ? and namespace = ? and key = ?",
      ...columnsOf(scope),
      toColumn(key),
    );
    return row === undefined ? undefined : uploadOf(row);
  }

  /** Sets the state alone. */
  setState(seq: number, state: UploadState): void {
    this.#database.run("update upload set state = ? where seq = ?", state, seq);
  }

  /** `uploaded` or `finishing` to `registered`: its certificate was of no use. */
  setUncertified(seq: number): void {
    this.#database.run(
      "update upload set state = 'registered', certificate = null, finish = null where seq = ?",
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

  /** `encoded` to `asked`: a publisher will store it and send its object to the wallet. */
  setAsked(seq: number, wallet: string, now: number): void {
    this.#database.run(
      "update upload set state = 'asked', wallet = ?, asked_at = ? where seq = ?",
      wallet,
      now,
      seq,
    );
  }

  /** `encoded` to `registering`. */
  setRegistering(seq: number, wallet: string, register: number): void {
    this.#database.run(
      "update upload set state = 'registering', wallet = ?, register = ? where seq = ?",
      wallet,
      register,
      seq,
    );
  }

  /** To `encoded` again: nothing of it was executed, or what was has ended. */
  setUnregistered(seq: number): void {
    this.#database.run(
      `update upload set state = 'encoded', wallet = null, register = null, object_id = null,
       end_epoch = null, certificate = null, finish = null, asked_at = null where seq = ?`,
      seq,
    );
  }

  /** To `registered`: the object is there. */
  setRegistered(seq: number, objectId: string, endEpoch: number): void {
    this.#database.run(
      "update upload set state = 'registered', object_id = ?, end_epoch = ? where seq = ?",
      objectId,
      endEpoch,
      seq,
    );
  }

  /** To `uploaded`, with the certificate where we certify. */
  setUploaded(seq: number, certificate: Uint8Array | undefined): void {
    this.#database.run(
      "update upload set state = 'uploaded', certificate = ? where seq = ?",
      certificate ?? null,
      seq,
    );
  }

  /** `uploaded` to `finishing`. */
  setFinishing(seq: number, finish: number): void {
    const sql = "update upload set state = 'finishing', finish = ? where seq = ?";
    this.#database.run(sql, finish, seq);
  }

  /** To `done`; what only the way there needed is dropped. */
  end(seq: number): void {
    this.#database.run(
      `update upload set state = 'done', tombstones = null, nonce = null, patches = null,
       certificate = null where seq = ?`,
      seq,
    );
    this.#database.run(
      `delete from signed where state <> 'signed' and not exists (select 1 from upload
       where state <> 'done' and (register = signed.seq or finish = signed.seq))`,
    );
  }

  /** Whether a Blob object belongs to an upload or is stored already. */
  isTaken(objectId: string): boolean {
    return this.#database.get(
      `select 1 from upload where object_id = ?
       union all select 1 from stored where object_id = ?`,
      objectId,
      objectId,
    ) !== undefined;
  }
}

function uploadOf(row: UploadRow): Upload {
  return {
    seq: row.seq,
    ...scopeOf(row),
    quilt: row.quilt === 1,
    state: row.state,
    createdAt: row.created_at,
    tombstones: row.tombstones?.split("\n") ?? [],
    ...(row.key === null ? {} : { key: fromColumn(row.key) }),
    ...(row.blob_id === null || row.root_hash === null || row.size === null ? {} : {
      encoded: {
        blobId: row.blob_id,
        rootHash: row.root_hash,
        size: row.size,
        patches: placesOf(row.patches),
      },
    }),
    ...(row.nonce === null ? {} : { nonce: row.nonce }),
    ...(row.wallet === null ? {} : { wallet: row.wallet }),
    ...(row.object_id === null ? {} : { objectId: row.object_id }),
    ...(row.end_epoch === null ? {} : { endEpoch: row.end_epoch }),
    ...(row.register === null ? {} : { register: row.register }),
    ...(row.certificate === null ? {} : { certificate: row.certificate }),
    ...(row.finish === null ? {} : { finish: row.finish }),
    ...(row.asked_at === null ? {} : { askedAt: row.asked_at }),
  };
}

function placesOf(patches: string | null): PatchPlace[] {
  if (patches === null || patches === "") return [];
  return patches.split("\n").map((line) => {
    const [identifier = "", id = ""] = line.split(" ");
    return { identifier, id };
  });
}
