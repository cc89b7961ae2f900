import { SqliteFile } from "./sqlite_file.ts";

/** Pages in use up to this many bytes are written anew by way of RAM, not of a temporary file. */
const IN_RAM = 256 * 1024 * 1024;

/**
 * Writes a database anew, with what it holds and nothing else, and empties its log: for one whose own
 * connection leaves deleted bytes in the file. Nobody may write to it meanwhile.
 *
 * @throws {Error} when somebody reads or writes it, or the disk is full: it is left as it was.
 */
export function rewriteDatabase(path: string): void {
  // A connection of its own: its owner may change the file as none of ours does.
  const file = new SqliteFile({ path });
  try {
    const { bytes } = file.get<{ bytes: number }>(
      `select (page_count - freelist_count) * page_size as bytes
       from pragma_page_count, pragma_freelist_count, pragma_page_size`,
    )!;
    file.exec(`pragma temp_store=${bytes <= IN_RAM ? "memory" : "file"}; vacuum`);
    emptyLog(file);
  } finally {
    void file.close();
  }
}

/** Copies the log into the database and empties it. @throws {Error} when somebody reads it. */
export function emptyLog(file: SqliteFile): void {
  const { busy } = file.get<{ busy: number }>("pragma wal_checkpoint(truncate)")!;
  if (busy !== 0) throw new Error("The database is being read");
}
