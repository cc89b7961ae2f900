import { ACTIVITY_SCHEMA, ActivityTable } from "./core/activity_table.ts";
import { COPY_SCHEMA, CopyTable } from "./core/copy_table.ts";
import { GRANT_SCHEMA, GrantTable } from "./core/grant_table.ts";
import { KEY_SCHEMA, KeyTable } from "./core/key_table.ts";
import { KEY_SLOT_SCHEMA, KeySlotTable } from "./core/key_slot_table.ts";
import { KEY_USE_SCHEMA, KeyUseTable } from "./core/key_use_table.ts";
import { OWNER_COUNT_SCHEMA, OwnerCountTable } from "./core/owner_count_table.ts";
import { POLICY_SCHEMA, PolicyTable } from "./core/policy_table.ts";
import { SPONSORSHIP_SCHEMA, SponsorshipTable } from "./core/sponsorship_table.ts";
import { TOMBSTONE_BLOB_SCHEMA, TombstoneBlobTable } from "./core/tombstone_blob_table.ts";
import { TOMBSTONE_SCHEMA, TombstoneTable } from "./core/tombstone_table.ts";
import { VERSION_SCHEMA, VersionTable } from "./core/version_table.ts";
import { SvcError } from "../errors.ts";
import type { Ledger } from "../interfaces/mod.ts";
import { CoreRows, movedText } from "./core_rows.ts";
import { LedgerMirror } from "./ledger_mirror.ts";
import { folderOf } from "./private_file.ts";
import { SqliteFile } from "./sqlite/sqlite_file.ts";

const META_SCHEMA = `
  create table if not exists meta (name text primary key, value text not null) strict, without rowid;
`;

const SCHEMA = META_SCHEMA + KEY_SLOT_SCHEMA + KEY_SCHEMA + TOMBSTONE_SCHEMA +
  TOMBSTONE_BLOB_SCHEMA +
  KEY_USE_SCHEMA + SPONSORSHIP_SCHEMA + ACTIVITY_SCHEMA + VERSION_SCHEMA +
  POLICY_SCHEMA + GRANT_SCHEMA + COPY_SCHEMA + OWNER_COUNT_SCHEMA;

/**
 * Form of everything in a data directory. Raised by a version whose files an earlier one would
 * misread or damage; what an earlier one can ignore, such as a new table, does not raise it.
 */
const DATA_FORMAT = 1;

/** Notes the form, or refuses a later one: the transaction that opens the file is undone then. */
function checkDataFormat(file: SqliteFile): void {
  const read = "select value from meta where name = 'data_format'";
  const found = Number(file.get<{ value: string }>(read)?.value ?? 0);
  if (found > DATA_FORMAT) {
    const formats = `data format ${found}, this one reads up to ${DATA_FORMAT}`;
    const advice = "start that version, or put back a copy from before the upgrade";
    throw new SvcError(
      "invalid_parameter",
      `The data was written by a later version of svc (${formats}): ${advice}`,
    );
  }
  if (found === DATA_FORMAT) return;
  const write = `insert into meta values ('data_format', ?)
    on conflict (name) do update set value = excluded.value`;
  file.run(write, String(DATA_FORMAT));
}

/**
 * What must outlive every other file of a relayer: its package id, wrapped data keys, tombstones,
 * what was sponsored and what keys did. The accounts of the `local` plugin lie in the same file, opened by the
 * plugin itself.
 */
export class CoreDb implements Disposable {
  readonly #file: SqliteFile;
  /** The folder it lies in. */
  readonly folder: string;
  readonly keySlots: KeySlotTable;
  readonly keys: KeyTable;
  readonly tombstones: TombstoneTable;
  /** Deletions that a blob store is told. */
  readonly tombstoneBlobs: TombstoneBlobTable;
  readonly keyUse: KeyUseTable;
  readonly sponsorships: SponsorshipTable;
  readonly activity: ActivityTable;
  /** Versions of memories that were replaced. */
  readonly versions: VersionTable;
  /** What owners chose for single namespaces. */
  readonly policies: PolicyTable;
  /** How often memories were written again, word for word. */
  readonly copies: CopyTable;
  /** What is counted of owners whom several relayers share; nothing where one has them all. */
  readonly counts: OwnerCountTable;
  /** Apps that were let in by OAuth. */
  readonly grants: GrantTable;
  /** All of it, row by row, for a move to another place. */
  readonly rows: CoreRows;

  /**
   * Opens core.db, or makes it.
   *
   * @param path Path of the file in a folder that exists, or `:memory:`.
   * @throws {SvcError} `storage_unavailable` when it cannot be opened, `invalid_parameter` when a
   * later version has changed its form.
   */
  constructor(path: string) {
    this.#file = new SqliteFile({ path, schema: SCHEMA, migrate: checkDataFormat });
    this.folder = folderOf(path);
    this.keySlots = new KeySlotTable(this.#file);
    this.keys = new KeyTable(this.#file);
    this.tombstones = new TombstoneTable(this.#file);
    this.tombstoneBlobs = new TombstoneBlobTable(this.#file);
    this.keyUse = new KeyUseTable(this.#file);
    this.sponsorships = new SponsorshipTable(this.#file);
    this.activity = new ActivityTable(this.#file);
    this.versions = new VersionTable(this.#file);
    this.policies = new PolicyTable(this.#file);
    this.copies = new CopyTable(this.#file);
    this.counts = new OwnerCountTable(this.#file);
    this.grants = new GrantTable(this.#file);
    this.rows = new CoreRows(this.#file);
  }

  /** Package id of an embedded relayer: made at first use, `0x` and 64 hex characters. */
  packageId(): string {
    const random = "0x" + crypto.getRandomValues(new Uint8Array(32)).toHex();
    return this.#keep("package_id", random);
  }

  /**
   * Ties the data to the key that it is sealed under, at first use.
   *
   * @returns fingerprint of the key that it is tied to.
   */
  bind(fingerprint: string): string {
    return this.#keep("relayer_key", fingerprint);
  }

  /** Fingerprints of the relayer keys that open the data, the first one first; none before one was used. */
  get openedBy(): string[] {
    const sql = `select value as found from meta where name = 'relayer_key' union all
      select * from (select fingerprint from key_slots order by slot)`;
    return this.#file.all<{ readonly found: string }>(sql).map(({ found }) => found);
  }

  get isBound(): boolean {
    const sql = "select 1 from meta where name = 'relayer_key'";
    return this.#file.get(sql) !== undefined;
  }

  /**
   * Makes sure that what is here was not moved elsewhere.
   *
   * @throws {SvcError} `invalid_parameter` where it was, or a move has not ended.
   */
  requireHere(): void {
    const { mark } = this.rows;
    if (mark === undefined) return;
    throw new SvcError("invalid_parameter", movedText(mark));
  }

  /** Keeps in step with a ledger from now on; to be called before anything is written. */
  mirror(ledger: Ledger): LedgerMirror {
    return new LedgerMirror(this.#file, ledger, (part) => {
      const { tombstones, versions, policies, copies } = this;
      for (const table of [tombstones, versions, policies]) table.reread();
      copies.reread(part);
    });
  }

  /** Empties the log, so that nothing deleted stands in it; not while another program reads. */
  emptyLog(): void {
    this.#file.exec("pragma wal_checkpoint(truncate)");
  }

  [Symbol.dispose](): void {
    this.copies.flush();
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
