import { ACTIVITY_SCHEMA, ActivityTable } from "./core/activity_table.ts";
import { KEY_SCHEMA, KeyTable } from "./core/key_table.ts";
import { KEY_USE_SCHEMA, KeyUseTable } from "./core/key_use_table.ts";
import { SPONSORSHIP_SCHEMA, SponsorshipTable } from "./core/sponsorship_table.ts";
import { TOMBSTONE_BLOB_SCHEMA, TombstoneBlobTable } from "./core/tombstone_blob_table.ts";
import { TOMBSTONE_SCHEMA, TombstoneTable } from "./core/tombstone_table.ts";
import { SvcError } from "../errors.ts";
import { folderOf } from "./private_file.ts";
import { SqliteFile } from "./sqlite/sqlite_file.ts";

const META_SCHEMA = `
  create table if not exists meta (name text primary key, value text not null) strict, without rowid;
`;

const SCHEMA = META_SCHEMA + KEY_SCHEMA + TOMBSTONE_SCHEMA + TOMBSTONE_BLOB_SCHEMA +
  KEY_USE_SCHEMA + SPONSORSHIP_SCHEMA + ACTIVITY_SCHEMA;

/**
 * What must outlive every other file of a relayer: its package id, wrapped data keys, tombstones,
 * what was sponsored and what keys did. The accounts of the `local` plugin lie in the same file, opened by the
 * plugin itself.
 */
export class CoreDb implements Disposable {
  readonly #file: SqliteFile;
  readonly #folder: string;
  readonly keys: KeyTable;
  readonly tombstones: TombstoneTable;
  /** Deletions that a blob store is told. */
  readonly tombstoneBlobs: TombstoneBlobTable;
  readonly keyUse: KeyUseTable;
  readonly sponsorships: SponsorshipTable;
  readonly activity: ActivityTable;

  /**
   * Opens core.db, or makes it.
   *
   * @param path Path of the file in a folder that exists, or `:memory:`.
   * @throws {SvcError} `storage_unavailable` when it cannot be opened.
   */
  constructor(path: string) {
    this.#file = new SqliteFile({ path, schema: SCHEMA });
    this.#folder = folderOf(path);
    this.keys = new KeyTable(this.#file);
    this.tombstones = new TombstoneTable(this.#file);
    this.tombstoneBlobs = new TombstoneBlobTable(this.#file);
    this.keyUse = new KeyUseTable(this.#file);
    this.sponsorships = new SponsorshipTable(this.#file);
    this.activity = new ActivityTable(this.#file);
  }

  /** Package id of an embedded relayer: made at first use, `0x` and 64 hex characters. */
  packageId(): string {
    const random = "0x" + crypto.getRandomValues(new Uint8Array(32)).toHex();
    return this.#keep("package_id", random);
  }

  /**
   * Ties the data to a relayer key, at first use; afterwards only that key is let in.
   *
   * @param source Where the key comes from, for the message.
   * @throws {SvcError} `invalid_parameter` for another key than the first.
   */
  bindKey(fingerprint: string, source = "this relayer"): void {
    if (this.#keep("relayer_key", fingerprint) === fingerprint) return;
    const text =
      `The data in ${this.#folder} belongs to another relayer key than that of ${source}`;
    throw new SvcError("invalid_parameter", text);
  }

  get isBound(): boolean {
    const sql = "select 1 from meta where name = 'relayer_key'";
    return this.#file.get(sql) !== undefined;
  }

  [Symbol.dispose](): void {
    void this.#file.close();
  }

  /** The value of a name, after writing it where there is none. */
  #keep(name: string, value: string): string {
    const read = () =>
      this.#file.get<{ value: string }>("select value from meta where name = ?", name)?.value;
    const present = read();
    if (present !== undefined) return present;
    // Another process may write between the two reads; the first value wins for both.
    this.#file.run("insert into meta values (?, ?) on conflict do nothing", name, value);
    return read() ?? value;
  }
}
