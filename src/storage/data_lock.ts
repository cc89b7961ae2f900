import { SvcError } from "../errors.ts";

/**
 * Takes a data directory for one relayer; ends with the process at the latest.
 *
 * @param path Folder that exists.
 * @throws {SvcError} `invalid_parameter` when another relayer has it, or it cannot be written.
 */
export async function lockDataFolder(path: string): Promise<Disposable> {
  const options = { create: true, write: true, mode: 0o600 };
  let file: Deno.FsFile;
  try {
    file = await Deno.open(`${path}/relayer.lock`, options);
  } catch (cause) {
    throw new SvcError("invalid_parameter", `${path} cannot be written`, { cause });
  }
  if (await file.tryLock(true)) return file;
  file.close();
  throw new SvcError("invalid_parameter", `Another relayer uses ${path}`);
}
