import { SvcError } from "../errors.ts";
import { type Checkpoints, sharedCheckpoints } from "../storage/sqlite/checkpoints.ts";
import { rewriteDatabase } from "../storage/sqlite/rewrite.ts";
import { fileFailure, makePrivate } from "../storage/sqlite/sqlite_file.ts";

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
 * Takes what was deleted out of a `jobs.kv`: Deno KV leaves its bytes in the file, whose pages are
 * therefore written anew. Payloads wait there under the relayer key alone.
 */
export class JobsFileScrub implements AsyncDisposable {
  readonly #path: string | undefined;
  readonly #checkpoints: Checkpoints;

  /** @param dataDir Folder of the file; absent: nothing is kept. */
  constructor(dataDir: string | undefined, checkpoints = sharedCheckpoints) {
    this.#path = dataDir === undefined ? undefined : `${dataDir}/jobs.kv`;
    this.#checkpoints = checkpoints;
    if (this.#path !== undefined) checkpoints.join(this.#path);
  }

  /**
   * Writes the file anew; nobody may write to it meanwhile.
   *
   * @throws {SvcError} `storage_unavailable` when it is damaged or missing, somebody reads it, or the
   * disk is full: the file is left as it was.
   */
  async run(): Promise<void> {
    if (this.#path === undefined) return;
    try {
      await Deno.stat(this.#path);
      await this.#checkpoints.rewrite(this.#path);
    } catch (cause) {
      throw fileFailure(cause, "jobs.kv", REMEDY);
    }
  }

  /** The same without another thread, once the file is closed; what fails is left to the next end. */
  end(): void {
    try {
      if (this.#path === undefined) return;
      Deno.statSync(this.#path);
      rewriteDatabase(this.#path);
    } catch {
      // The next end tries it again.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#path !== undefined) await this.#checkpoints.leave(this.#path);
  }
}
