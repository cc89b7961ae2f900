import { SvcError } from "./errors.ts";
import { ensurePrivateFolder } from "./private_file.ts";

/** Exclusive use of a data directory; ends with the process at the latest. */
export interface DataLock extends Disposable {
  /** What was mended about the folder, one line each. */
  readonly warnings: readonly string[];
}

/**
 * Makes the data directory and takes it for this process.
 *
 * @throws {SvcError} `invalid_parameter` when another relayer has it, or it cannot be made.
 */
export async function lockDataFolder(path: string): Promise<DataLock> {
  const warnings = await ensurePrivateFolder(path);
  const options = { create: true, write: true, mode: 0o600 };
  let file: Deno.FsFile;
  try {
    file = await Deno.open(`${path}/relayer.lock`, options);
  } catch (cause) {
    throw new SvcError("invalid_parameter", `${path} cannot be written`, { cause });
  }
  if (await file.tryLock(true)) return { warnings, [Symbol.dispose]: () => file.close() };
  file.close();
  throw new SvcError("invalid_parameter", `Another relayer uses ${path}`);
}
