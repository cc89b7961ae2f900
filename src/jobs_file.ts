import { SvcError } from "./errors.ts";

/** Files of the queue hold sealed payloads only, and are nobody else's business all the same. */
async function makePrivate(path: string): Promise<void> {
  for (const suffix of ["", "-wal", "-shm"]) {
    await Deno.chmod(path + suffix, 0o600).catch(() => {});
  }
}

/**
 * Opens `jobs.kv`.
 *
 * @param dataDir folder that exists; without one nothing is kept.
 * @throws {SvcError} `invalid_parameter` without Deno's KV flag.
 */
export async function openJobsFile(dataDir: string | undefined): Promise<Deno.Kv> {
  if (typeof Deno.openKv !== "function") {
    throw new SvcError(
      "invalid_parameter",
      'Jobs need Deno KV: add "unstable": ["kv"] to deno.json, or run with --unstable-kv',
    );
  }
  const path = dataDir === undefined ? ":memory:" : `${dataDir}/jobs.kv`;
  const kv = await Deno.openKv(path);
  if (dataDir !== undefined) await makePrivate(path);
  return kv;
}
