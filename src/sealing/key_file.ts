import { SvcError } from "../errors.ts";
import {
  createPrivateFile,
  folderOf,
  makePrivateFolder,
  readPrivateFile,
} from "../storage/private_file.ts";

interface KeyFileOptions {
  /** Refuses a file that other users may open, instead of taking their permissions away. */
  readonly refusesOpen?: boolean;
  /** Called before a missing file is made; it may refuse. */
  readonly beforeMaking?: () => Promise<void>;
}

const refused = (message: string) => new SvcError("invalid_parameter", message);

/**
 * The 32 bytes of a key.
 *
 * @param source Where the text comes from, for the error.
 * @throws {SvcError} `invalid_parameter`, without a part of the text.
 */
export function keyFromHex(text: string, source: string): Uint8Array {
  if (!/^[0-9a-fA-F]{64}$/.test(text)) throw refused(`${source} must be 64 hex characters`);
  return Uint8Array.fromHex(text);
}

/**
 * Reads a file of 64 hex characters, and makes it, 0600, with a random key when it is missing.
 *
 * @returns the key, and what was mended about the file, one line each.
 * @throws {SvcError} `invalid_parameter` when it cannot be read or made, or holds something else.
 */
export async function openKeyFile(
  path: string,
  { refusesOpen, beforeMaking }: KeyFileOptions = {},
): Promise<{ readonly bytes: Uint8Array; readonly warnings: readonly string[] }> {
  let found = await readPrivateFile(path, { refusesOpen });
  if (found === undefined) {
    await beforeMaking?.();
    await makePrivateFolder(folderOf(path));
    await createPrivateFile(path, crypto.getRandomValues(new Uint8Array(32)).toHex() + "\n");
    // When two first starts race, both take the file that was there first.
    found = await readPrivateFile(path, { refusesOpen });
  }
  if (found === undefined) throw refused(`${path} vanished while it was read`);
  const bytes = keyFromHex(found.text.trim(), `The relayer key in ${path}`);
  return { bytes, warnings: found.warnings };
}

/**
 * The relayer key of a file, for `createRelayer`: 64 hex characters, made at the first call. Keep
 * the file outside of the data directory, so that a copy of that one opens nothing, and keep a copy
 * of the file: without it the data is lost.
 *
 * @returns 32 bytes.
 * @throws {SvcError} `invalid_parameter` when the file is a link, holds no key, can be opened by
 * other users, or cannot be read or made.
 */
export async function keyFile(path: string): Promise<Uint8Array> {
  return (await openKeyFile(path, { refusesOpen: true })).bytes;
}
