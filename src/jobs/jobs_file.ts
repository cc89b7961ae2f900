import { SvcError } from "../errors.ts";
import { fileFailure, makePrivate, SqliteFile } from "../storage/sqlite/sqlite_file.ts";

/** Larger files are not scrubbed, because it would hold up the stop, bytes. */
const MOST_SCRUBBED = 64 * 1024 * 1024;

/**
 * Deno KV leaves deleted bytes in the file. This writes all rows anew and takes all free pages once:
 * an {@linkcode SqliteFile} overwrites the pages that are given back.
 */
const SCRUB = `
  pragma busy_timeout = 1000;
  begin immediate;
  create table scrubbed as select * from kv;
  delete from kv;
  insert into kv select * from scrubbed;
  drop table scrubbed;
  create table scrubbed (zeros blob);
  insert into scrubbed select zeroblob(freelist_count * page_size)
    from pragma_freelist_count, pragma_page_size;
  drop table scrubbed;
  commit;
  pragma wal_checkpoint(truncate)`;

const REMEDY = "put back a copy, or move jobs.kv* away and lose what is not stored yet";

/**
 * Runs what needs a sound `jobs.kv` at a start: opening it looks at few of its pages only.
 *
 * @throws {SvcError} `storage_unavailable`, not retryable when the file is damaged.
 */
export async function withJobsFile<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw fileFailure(cause, "jobs.kv", REMEDY);
  }
}

/**
 * Opens `jobs.kv`.
 *
 * @param dataDir folder that exists; without one nothing is kept.
 * @throws {SvcError} `invalid_parameter` without Deno's KV flag, `storage_unavailable` as
 * {@linkcode withJobsFile} does.
 */
export async function openJobsFile(dataDir: string | undefined): Promise<Deno.Kv> {
  if (typeof Deno.openKv !== "function") {
    throw new SvcError(
      "invalid_parameter",
      'Jobs need Deno KV: add "unstable": ["kv"] to deno.json, or run with --unstable-kv',
    );
  }
  const path = dataDir === undefined ? ":memory:" : `${dataDir}/jobs.kv`;
  return await withJobsFile(() => {
    if (dataDir !== undefined) makePrivate(path);
    return Deno.openKv(path);
  });
}

/**
 * Overwrites what was deleted from a `jobs.kv` that is closed: texts waited there under the relayer
 * key alone. What fails leaves the file as it was.
 */
export async function scrubJobsFile(dataDir: string): Promise<void> {
  const path = `${dataDir}/jobs.kv`;
  try {
    if ((await Deno.stat(path)).size > MOST_SCRUBBED) return;
    const file = new SqliteFile({ path });
    try {
      file.exec(SCRUB);
    } finally {
      await file.close();
    }
  } catch {
    // The next stop tries it again.
  }
}
