import { pause } from "../deadline.ts";
import { SvcError } from "../errors.ts";

/**
 * Tries, and milliseconds between them: a program that is just being started by whoever had the lock
 * has it for the moment until it runs.
 */
const TRIES = { most: 20, ms: 10 };

/**
 * Takes a data directory for one relayer; ends with the process at the latest.
 *
 * @param path Folder that exists.
 * @throws {SvcError} `invalid_parameter` when another relayer has it, or it cannot be written.
 */
export async function lockDataFolder(path: string): Promise<Disposable> {
  return await lockIn(path, "relayer.lock", `Another relayer uses ${path}`);
}

/**
 * Takes a data directory for one change of its relayer key, beside a relayer or not.
 *
 * @throws {SvcError} `invalid_parameter` when another change is under way, or it cannot be written.
 */
export async function lockKeyChange(path: string): Promise<Disposable> {
  return await lockIn(path, "key.lock", `The relayer key of ${path} is being changed`);
}

async function lockIn(path: string, name: string, taken: string): Promise<Disposable> {
  const options = { create: true, write: true, mode: 0o600 };
  let file: Deno.FsFile;
  try {
    file = await Deno.open(`${path}/${name}`, options);
  } catch (cause) {
    throw new SvcError("invalid_parameter", `${path} cannot be written`, { cause });
  }
  for (let tried = 1; !await file.tryLock(true); tried++) {
    if (tried === TRIES.most) {
      file.close();
      throw new SvcError("invalid_parameter", taken);
    }
    await pause(TRIES.ms);
  }
  return file;
}
