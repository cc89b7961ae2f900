import type { BlobMove, Scope } from "../../interfaces/mod.ts";
import { fromColumn, toColumn } from "../sqlite/database.ts";
import type { SqliteFile } from "../sqlite/sqlite_file.ts";

/** `bytes` is 0 for the version that is indexed: its row counts it. */
export const VERSION_SCHEMA = `
  create table if not exists memory_version (
    owner text not null, namespace blob not null, id text not null, version integer not null,
    job text not null, accepted_at integer not null, written integer not null, blob_id text,
    bytes integer not null, primary key (owner, namespace, id, version)
  ) strict, without rowid;
  create index if not exists memory_version_blob on memory_version (owner, namespace, blob_id);
`;

/** A version of a memory that was replaced at least once. */
export interface MemoryVersion {
  /** Memory id. */
  readonly id: string;
  /** Number of the version, from 1. */
  readonly version: number;
  /** Job that writes or wrote it. */
  readonly jobId: string;
  /** When it was accepted, milliseconds since the epoch. */
  readonly acceptedAt: number;
  /** Where its sealed record is stored; absent until it is known. */
  readonly blobId?: string | undefined;
  /** Size of its sealed record once a later version has replaced it, else 0. */
  readonly bytes: number;
}

interface Row {
  id: string;
  version: number;
  jobId: string;
  acceptedAt: number;
  written: number;
  blobId: string | null;
  bytes: number;
}

const COLUMNS = `id, version, job as jobId, accepted_at as acceptedAt, written, blob_id as blobId,
  bytes`;

/**
 * Versions of memories that were replaced: what each is called, and where the replaced ones are.
 * Memories that never were have no row. Calls are synchronous and durable on return.
 */
export class VersionTable {
  readonly #file: SqliteFile;
  /** Memories with rows by owner, read once: every job and every hit asks. */
  #known: Map<string, Set<string>> | undefined;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  /** To be called when rows were exchanged by somebody else. */
  reread(): void {
    this.#known = undefined;
  }

  /** Whether a memory was ever replaced, or a replacement of it accepted. */
  has({ owner }: Pick<Scope, "owner">, id: string): boolean {
    this.#known ??= this.#readKnown();
    return this.#known.get(owner)?.has(id) ?? false;
  }

  /**
   * Takes the next number of a memory for a job: above the present one, and above every one that
   * was ever taken.
   */
  reserve(scope: Scope, id: string, present: number, jobId: string, at: number): number {
    const version = Math.max(present, this.latest(scope, id)) + 1;
    this.#file.run(
      "insert into memory_version values (?, ?, ?, ?, ?, ?, 0, null, 0)",
      scope.owner,
      toColumn(scope.namespace),
      id,
      version,
      jobId,
      at,
    );
    this.#know(scope.owner, id);
    return version;
  }

  /** Takes a given number for a job; answers false when it, or a later one, was taken already. */
  claim(
    scope: Scope,
    id: string,
    { version, jobId, acceptedAt }: Pick<MemoryVersion, "version" | "jobId" | "acceptedAt">,
  ): boolean {
    if (this.latest(scope, id) >= version) return false;
    this.reserve(scope, id, version - 1, jobId, acceptedAt);
    return true;
  }

  /** The highest number that was taken; 0 where none was. */
  latest(scope: Scope, id: string): number {
    if (!this.has(scope, id)) return 0;
    const sql = `select max(version) as version from memory_version
      where owner = ? and namespace = ? and id = ?`;
    const row = this.#file.get<{ version: number | null }>(
      sql,
      scope.owner,
      toColumn(scope.namespace),
      id,
    );
    return row?.version ?? 0;
  }

  /** Notes versions that were written; what is known of their blobs and sizes stays known. */
  note(scope: Scope, versions: readonly MemoryVersion[]): void {
    if (versions.length === 0) return;
    const sql = `insert into memory_version values (?, ?, ?, ?, ?, ?, 1, ?, ?)
      on conflict (owner, namespace, id, version) do update set written = 1,
        blob_id = coalesce(excluded.blob_id, blob_id), bytes = max(excluded.bytes, bytes)`;
    const namespace = toColumn(scope.namespace);
    this.#file.transaction(() => {
      for (const { id, version, jobId, acceptedAt, blobId = null, bytes } of versions) {
        this.#file.run(
          sql,
          scope.owner,
          namespace,
          id,
          version,
          jobId,
          acceptedAt,
          blobId,
          bytes,
        );
        this.#know(scope.owner, id);
      }
    });
  }

  /** The written versions of a memory, newest first; with `all` also those that never were. */
  of(scope: Scope, id: string, all = false): MemoryVersion[] {
    if (!this.has(scope, id)) return [];
    const sql = `select ${COLUMNS} from memory_version
      where owner = ? and namespace = ? and id = ? order by version desc`;
    return this.#file.all<Row>(sql, scope.owner, toColumn(scope.namespace), id)
      .filter(({ written }) => all || written === 1)
      .map(({ written: _, blobId, ...row }) => ({ ...row, blobId: blobId ?? undefined }));
  }

  /** Versions of a memory that were never written. */
  unwritten(scope: Scope, id: string): MemoryVersion[] {
    const written = new Set(this.of(scope, id).map(({ version }) => version));
    return this.of(scope, id, true).filter(({ version }) => !written.has(version));
  }

  /** Gives a number back whose version was never written. */
  release(scope: Scope, id: string, version: number): void {
    const sql = `delete from memory_version
      where owner = ? and namespace = ? and id = ? and version = ? and written = 0`;
    this.#file.run(sql, scope.owner, toColumn(scope.namespace), id, version);
  }

  /** The job that writes or wrote a version; one without a row has the memory's id. */
  jobOf(scope: Scope, id: string, version: number): string {
    if (!this.has(scope, id)) return id;
    return this.of(scope, id, true).find((row) => row.version === version)?.jobId ?? id;
  }

  /** Blobs of a scope that hold versions, and which. */
  blobsIn(scope: Scope): Map<string, Pick<MemoryVersion, "id" | "version">> {
    const sql = `select blob_id as blobId, id, version from memory_version
      where owner = ? and namespace = ? and blob_id is not null`;
    const rows = this.#file.all<{ blobId: string; id: string; version: number }>(
      sql,
      scope.owner,
      toColumn(scope.namespace),
    );
    return new Map(rows.map(({ blobId, ...version }) => [blobId, version]));
  }

  /** Memories of a scope that were ever replaced, or a replacement of them accepted. */
  idsIn({ owner, namespace }: Scope): string[] {
    this.#known ??= this.#readKnown();
    if (!this.#known.has(owner)) return [];
    const sql = "select distinct id from memory_version where owner = ? and namespace = ?";
    return this.#file.all<{ id: string }>(sql, owner, toColumn(namespace)).map(({ id }) => id);
  }

  /** Takes over that blobs of a scope have other ids now. */
  moved(scope: Scope, moves: readonly Pick<BlobMove, "from" | "to">[]): void {
    const sql = `update memory_version set blob_id = ?
      where owner = ? and namespace = ? and blob_id = ?`;
    const namespace = toColumn(scope.namespace);
    this.#file.transaction(() => {
      for (const { from, to } of moves) this.#file.run(sql, to, scope.owner, namespace, from);
    });
  }

  /** Forgets every version of memories. */
  remove(scope: Scope, ids: readonly string[]): void {
    const known = ids.filter((id) => this.has(scope, id));
    if (known.length === 0) return;
    const namespace = toColumn(scope.namespace);
    const sql = "delete from memory_version where owner = ? and namespace = ? and id = ?";
    this.#file.transaction(() => {
      for (const id of known) this.#file.run(sql, scope.owner, namespace, id);
    });
    for (const id of known) this.#known?.get(scope.owner)?.delete(id);
  }

  /** Bytes of an owner's replaced versions, by namespace. */
  bytesOf(owner: string): { readonly namespace: string; readonly bytes: number }[] {
    const sql = `select namespace, sum(bytes) as bytes from memory_version
      where owner = ? group by namespace`;
    this.#known ??= this.#readKnown();
    if (!this.#known.has(owner)) return [];
    return this.#file.all<{ namespace: Uint8Array; bytes: number }>(sql, owner)
      .map(({ namespace, bytes }) => ({ namespace: fromColumn(namespace), bytes }));
  }

  #know(owner: string, id: string): void {
    this.#known?.getOrInsertComputed(owner, () => new Set()).add(id);
  }

  #readKnown(): Map<string, Set<string>> {
    const known = new Map<string, Set<string>>();
    const rows = this.#file.all<{ owner: string; id: string }>(
      "select distinct owner, id from memory_version",
    );
    for (const { owner, id } of rows) known.getOrInsertComputed(owner, () => new Set()).add(id);
    return known;
  }
}
