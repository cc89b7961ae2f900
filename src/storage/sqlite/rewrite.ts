import { SqliteFile } from "./sqlite_file.ts";

/** Rows up to this many bytes are copied by way of RAM, not of a temporary file. */
const IN_RAM = 256 * 1024 * 1024;
/** Free pages that are filled by one row. */
const FILLED_AT_ONCE = 10_000;

/**
 * Writes the rows of a database anew over zeros, fills its free pages with zeros, and empties its log:
 * for one whose own connection leaves deleted bytes in the file. Nobody may write to it meanwhile.
 * The file keeps its size. `VACUUM` would not: it attaches a database, which Deno allows to programs
 * alone that may read and write every file.
 *
 * @throws {Error} when somebody reads or writes it, or the disk is full: it is left as it was.
 */
export function rewriteDatabase(path: string): void {
  // A connection of its own: its owner may change the file as none of ours does.
  const file = new SqliteFile({ path });
  try {
    const free = number(file, "pragma freelist_count");
    const size = number(file, "pragma page_size");
    const used = (number(file, "pragma page_count") - free) * size;
    file.exec(`pragma temp_store=${used <= IN_RAM ? "memory" : "file"}`);
    file.transaction(() => {
      rewriteRows(file);
      fillFree(file, size);
    });
    emptyLog(file);
  } finally {
    void file.close();
  }
}

/** With `secure_delete` a page is zeroed when it becomes free: so each is, between two copies. */
function rewriteRows(file: SqliteFile): void {
  const sql = "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'";
  for (const { name } of file.all<{ name: string }>(sql)) {
    const table = `main."${name.replaceAll('"', '""')}"`;
    file.exec(`create temp table copied as select * from ${table};
      delete from ${table};
      insert into ${table} select * from copied;
      drop table copied`);
  }
}

/** Pages that were freed earlier hold what was in them: a table takes them all, and gives them back. */
function fillFree(file: SqliteFile, size: number): void {
  file.exec("create table main.filled (zeros blob)");
  for (let free = 1; (free = number(file, "pragma freelist_count")) > 0;) {
    // A row too large for a page has one of its own for what does not fit, and so on.
    const pages = Math.min(FILLED_AT_ONCE, Math.max(1, free - 2));
    file.run("insert into filled values (zeroblob(?))", pages * (size - 4) - 200);
  }
  file.exec("drop table main.filled");
}

function number(file: SqliteFile, sql: string): number {
  return Number(Object.values(file.get<Record<string, number>>(sql)!)[0]);
}

/** Copies the log into the database and empties it. @throws {Error} when somebody reads it. */
export function emptyLog(file: SqliteFile): void {
  const { busy } = file.get<{ busy: number }>("pragma wal_checkpoint(truncate)")!;
  if (busy !== 0) throw new Error("The database is being read");
}
