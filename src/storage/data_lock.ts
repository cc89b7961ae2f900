import { SvcError } from "../errors.ts";

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
  if (await file.tryLock(true)) return file;
  file.close();
  throw new SvcError("invalid_parameter", taken);
}
