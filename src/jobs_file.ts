import { fileFailure } from "./damaged_file.ts";
import { SvcError } from "./errors.ts";

const REMEDY = "put back a copy, or move jobs.kv* away and lose what is not stored yet";

/** Files of the queue hold sealed payloads only, and are nobody else's business all the same. */
async function makePrivate(path: string): Promise<void> {
  for (const suffix of ["", "-wal", "-shm"]) {
    await Deno.chmod(path + suffix, 0o600).catch(() => {});
  }
}

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
  const kv = await withJobsFile(() => Deno.openKv(path));
  if (dataDir !== undefined) await makePrivate(path);
  return kv;
}
