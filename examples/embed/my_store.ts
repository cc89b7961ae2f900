/**
 * A vector store of one's own, in two tables of SQLite. `guarded` sees to versions, links, counts,
 * search and closing. Vectors of one model are kept, in the clear; the texts are sealed already.
 */
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { deserialize, serialize } from "node:v8";
import { guarded, type IndexEntry, type VectorStore } from "@svc/relayer";

const SCHEMA = `
  pragma journal_mode = wal;
  pragma synchronous = full;
  create table if not exists memory (owner, space, id, entry, primary key (owner, space, id));
  create index if not exists by_id on memory (owner, id);
  create table if not exists scope (owner, space, counts, primary key (owner, space));
`;

/** Opens the store of a file, or makes it. */
export function myStore(path = "./vectors.db"): VectorStore {
  const db = new DatabaseSync(path);
  db.exec(SCHEMA);
  const run = (sql: string, ...values: SQLInputValue[]) => db.prepare(sql).all(...values);
  const read = (sql: string, ...values: SQLInputValue[]): IndexEntry[] =>
    run(sql, ...values).map(({ entry }) => deserialize(entry as Uint8Array));
  // Namespaces are blobs, because text of SQLite ends at U+0000.
  const blob = (text: string) => new TextEncoder().encode(text);
  return guarded({
    write({ owner, namespace, put, remove, counts }) {
      const space = blob(namespace);
      db.exec("begin immediate");
      try {
        for (const entry of put) {
          run("replace into memory values (?, ?, ?, ?)", owner, space, entry.id, serialize(entry));
        }
        for (const id of remove) {
          run("delete from memory where owner = ? and space = ? and id = ?", owner, space, id);
        }
        run("replace into scope values (?, ?, ?)", owner, space, JSON.stringify(counts));
        db.exec("commit");
      } catch (error) {
        if (db.isTransaction) db.exec("rollback");
        throw error;
      }
    },
    get: (owner, ids) =>
      ids.flatMap((id) => read("select entry from memory where owner = ? and id = ?", owner, id)),
    page: ({ owner, namespace }, after, limit) =>
      read(
        "select entry from memory where owner = ? and space = ? and id > ? order by id limit ?",
        ...[owner, blob(namespace), after, limit],
      ),
    counts: (owner) =>
      run("select counts from scope where owner = ?", owner)
        .map((row) => JSON.parse(String(row.counts))),
    [Symbol.asyncDispose]: () => db.close(),
  });
}
