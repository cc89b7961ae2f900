import { SvcError } from "../../src/errors.ts";
import type { Sealer } from "../../src/plugin.ts";
import { Database } from "./database.ts";

const REMEDY = "stop the relayer, delete index.db and restore the namespaces";

/**
 * `scope` holds what {@linkcode VectorStore.scopes} answers; `entry` says where a memory is: in the
 * segment named, else as a single row of `tail` under the same `seq`. Blob ids recorded later wait
 * in `entry.blob` until their segment is written again.
 */
const SCHEMA = `
create table if not exists meta(key text primary key, value any) strict, without rowid;
create table if not exists scope(
  id integer primary key, owner blob not null, namespace blob not null,
  count integer not null, bytes real not null, last_write real not null,
  unique(owner, namespace)) strict;
create table if not exists entry(
  seq integer primary key, scope integer not null, id blob not null, version integer not null,
  bytes real not null, segment integer, blob blob,
  unique(id, scope)) strict;
create index if not exists entry_place on entry(scope, segment, seq);
create index if not exists entry_link on entry(segment) where blob is not null;
create table if not exists tail(seq integer primary key, sealed blob not null) strict;
create table if not exists segment(
  seq integer primary key autoincrement, scope integer not null, sealed blob not null) strict;
create index if not exists segment_scope on segment(scope, seq)`;

/** Whose vectors an index holds. */
export interface IndexIdentity {
  /** Name of the embedding model. */
  readonly model: string;
  /** Length of every vector. */
  readonly dimensions: number;
}

/**
 * Opens `index.db`, or makes it.
 *
 * @throws {SvcError} `storage_unavailable`, not retryable, when the file is damaged, holds vectors
 * of another model or was sealed under another relayer key.
 */
export function openIndex(dataDir: string, identity: IndexIdentity, sealer: Sealer): Database {
  const database = new Database({
    dataDir,
    file: "index.db",
    schema: SCHEMA,
    remedy: REMEDY,
    // A segment of 256 memories has several hundred kilobytes: large pages make short chains.
    pageSize: 16384,
  });
  try {
    checkIdentity(database, identity, sealer);
    return database;
  } catch (error) {
    void database.close();
    throw error;
  }
}

function checkIdentity(database: Database, identity: IndexIdentity, sealer: Sealer): void {
  const wanted = JSON.stringify([identity.model, identity.dimensions]);
  const insert = "insert or ignore into meta values(?, ?)";
  const select = "select value from meta where key = ?";
  database.run(insert, "identity", wanted);
  const found = database.get<{ value: string }>(select, "identity")!.value;
  if (found !== wanted) {
    const [model, dimensions]: [string, number] = JSON.parse(found);
    throw new SvcError(
      "storage_unavailable",
      `index.db holds vectors of ${model} (${dimensions} dimensions), the embedder is ` +
        `${identity.model} (${identity.dimensions} dimensions): choose that embedder again, or ` +
        REMEDY,
      { retryable: false },
    );
  }
  database.run(insert, "seal", sealer.seal(new Uint8Array(0), "seal"));
  try {
    sealer.open(database.get<{ value: Uint8Array }>(select, "seal")!.value, "seal");
  } catch (cause) {
    throw new SvcError(
      "storage_unavailable",
      `index.db was sealed under another relayer key: configure that key again, or ${REMEDY}`,
      { retryable: false, cause },
    );
  }
}
