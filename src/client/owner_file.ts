/**
 * The recovery words of the account that was made on this machine. Apart from `mod.ts`, which browsers
 * can load: this needs the file system of Deno or Node.
 *
 * @module
 */
import { dirname } from "node:path";
import { replaceFile } from "../replace_file.ts";
import { readText, tighten, writePrivate } from "./private_file.ts";
import { seedOfRecoveryWords } from "./recovery_words.ts";

/** Who owns the account of this machine. */
export interface OwnerFile {
  /** Twelve recovery words: whoever has them owns the account. */
  readonly words: string;
  /** Address of the owner, `0x` and 64 lower-case hex characters. */
  readonly owner: string;
  /** Dashboard of the account's relayer: the words are shown to no page of another origin. */
  readonly webUrl: string;
}

/** Where the file is, beside the credentials file. */
export function ownerPath(credentialsPath: string): string {
  return `${dirname(credentialsPath)}/owner.json`;
}

/** Reads the file; `undefined` when there is none, or it holds no recovery words. */
export async function readOwner(path: string): Promise<OwnerFile | undefined> {
  try {
    const read = await readText(path);
    if ("reason" in read) return undefined;
    await tighten(path);
    const { words, owner, webUrl } = JSON.parse(read.text);
    const isOurs = typeof words === "string" && typeof owner === "string" &&
      typeof webUrl === "string" && await seedOfRecoveryWords(words) !== undefined;
    return isOurs ? { words, owner, webUrl } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Writes the file. Words of another owner that are there are kept, under a name with the beginning of
 * their address: nothing else may have them.
 *
 * @throws {SvcError} `storage_unavailable`.
 */
export async function writeOwner(path: string, file: OwnerFile): Promise<void> {
  const before = await readOwner(path);
  if (before !== undefined && before.owner !== file.owner) {
    const kept = path.replace(/\.json$/, `_${before.owner.slice(2, 10)}.json`);
    await replaceFile(path, kept);
  }
  await writePrivate(path, JSON.stringify({ version: 1, ...file }, null, 2) + "\n");
}
