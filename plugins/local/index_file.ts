import type { Sealer } from "../../src/interfaces/plugin.ts";
import { Database } from "../../src/storage/sqlite/database.ts";
import type { SqliteFile } from "../../src/storage/sqlite/sqlite_file.ts";
import { checkSeal, type StoreIdentity } from "../shared/rows/index_file.ts";

const REMEDY = "stop the relayer, delete index.db and restore the namespaces";

/**
 * `scope` holds what {@linkcode VectorStore.scopes} answers; `entry` says where a memory is: in the
 * segment named, else as a single row of `tail` under the same `seq`. Blob ids recorded later wait
 * in `entry.blob` until their segment is written again. `model` says whose vectors a segment or a
 * single row holds: after a change of the embedder there are those of several models.
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
create table if not exists tail(
  seq integer primary key, sealed blob not null, model integer not null default 1) strict;
create table if not exists segment(
  seq integer primary key autoincrement, scope integer not null, sealed blob not null,
  model integer not null default 1) strict;
create index if not exists segment_scope on segment(scope, seq);
create table if not exists model(id integer primary key, identity text not null unique) strict`;

/**
 * Opens `index.db`, or makes it.
 *
 * @param identity Whose vectors it is to hold.
 * @returns the file, and the number of that model in it.
 * @throws {SvcError} `storage_unavailable`, not retryable, when the file is damaged or was sealed
 * under another relayer key.
 */
export function openIndex(
  dataDir: string,
  identity: StoreIdentity,
  sealer: Sealer,
): { readonly database: Database; readonly model: number } {
  const wanted = JSON.stringify([identity.model, identity.dimensions]);
  const database = new Database({
    path: `${dataDir}/index.db`,
    schema: SCHEMA,
    migrate: (file) => {
      checkSeal(file, sealer, "index.db", REMEDY);
      addModels(file);
      file.run("insert or ignore into model(identity) values(?)", wanted);
    },
    remedy: REMEDY,
    // A segment of 256 memories has several hundred kilobytes: large pages make short chains.
    pageSize: 16384,
  });
  const select = "select id from model where identity = ?";
  return { database, model: database.get<{ id: number }>(select, wanted)!.id };
}

/** Files made before several models had room in one: all they hold is of the one they name. */
function addModels(file: SqliteFile): void {
  for (const table of ["tail", "segment"]) {
    const columns = file.all<{ name: string }>(`pragma table_info(${table})`);
    if (!columns.some(({ name }) => name === "model")) {
      file.run(`alter table ${table} add column model integer not null default 1`);
    }
    file.run(`create index if not exists ${table}_model on ${table}(model)`);
  }
  file.run(
    "insert or ignore into model(id, identity) select 1, value from meta where key = 'identity'",
  );
}
