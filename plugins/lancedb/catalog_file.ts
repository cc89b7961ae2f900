import { SvcError } from "../../src/errors.ts";
import type { Sealer } from "../../src/interfaces/plugin.ts";
import { Database } from "../../src/storage/sqlite/database.ts";
import type { SqliteFile } from "../../src/storage/sqlite/sqlite_file.ts";
import { checkSeal, kept, type StoreIdentity } from "../shared/rows/index_file.ts";

/** What the operator does when catalogue and table are of no use any more. */
export const REMEDY = "stop the relayer, delete the folder lancedb and restore the namespaces";

/**
 * `scope` holds what {@linkcode VectorStore.scopes} answers, and `flushed`, the rows it has in the
 * table. `entry` says what there is: a memory is in the table when `flushed` is 1, else sealed in
 * `tail`, under the same `seq`, which is never used again. `gone` names what is to be deleted from
 * the table.
 */
const SCHEMA = `
create table if not exists meta(key text primary key, value any) strict, without rowid;
create table if not exists scope(
  id integer primary key, owner blob not null, namespace blob not null,
  count integer not null, bytes real not null, last_write real not null,
  flushed integer not null, unique(owner, namespace)) strict;
create table if not exists entry(
  seq integer primary key autoincrement, scope integer not null, id blob not null,
  version integer not null, bytes real not null, windows integer not null,
  flushed integer not null, blob blob, unique(id, scope)) strict;
create index if not exists entry_place on entry(scope, seq);
create table if not exists tail(seq integer primary key, sealed blob not null) strict;
create table if not exists gone(seq integer primary key, windows integer not null) strict`;

/**
 * Opens the catalogue, `catalog.db`, or makes it.
 *
 * @throws {SvcError} `storage_unavailable`, not retryable, when it is damaged, names another model
 * or was sealed under another relayer key.
 */
export function openCatalog(folder: string, identity: StoreIdentity, sealer: Sealer): Database {
  return new Database({
    path: `${folder}/catalog.db`,
    schema: SCHEMA,
    migrate: (file) => checkIdentity(file, identity, sealer),
    remedy: REMEDY,
  });
}

function checkIdentity(file: SqliteFile, identity: StoreIdentity, sealer: Sealer): void {
  const wanted = JSON.stringify([identity.model, identity.dimensions]);
  const found = kept<string>(file, "identity", wanted);
  if (found !== wanted) {
    const text = `The LanceDB store holds vectors of ${found}, the embedder makes ${wanted}: ` +
      `choose that embedder again, or ${REMEDY}`;
    throw new SvcError("storage_unavailable", text, { retryable: false });
  }
  checkSeal(file, sealer, "The LanceDB store", REMEDY);
}
