/**
 * Small files that only their user may read. Apart from `mod.ts`, which browsers can load: this needs
 * the file system of Deno or Node.
 *
 * @module
 */
import type { Stats } from "node:fs";
import * as fs from "node:fs/promises";
import { dirname } from "node:path";
import { platform } from "node:process";
import { SvcError } from "../errors.ts";
import { replaceFile } from "../replace_file.ts";

/** A file larger than this is not one of ours. */
const FILE_BYTES = 65_536;
const WINDOWS = platform === "win32";

export const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT";

async function lstat(path: string): Promise<Stats | undefined> {
  try {
    return await fs.lstat(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

const wider = (info: Stats, mode: number): boolean => !WINDOWS && (info.mode & 0o777 & ~mode) !== 0;

/**
 * Takes excess permissions away from a file, and from a directory that is the service's own; says what
 * it did, one line each.
 */
export async function tighten(path: string): Promise<string[]> {
  const warnings: string[] = [];
  const directory = dirname(path);
  const places: [path: string, mode: number][] = [[path, 0o600]];
  if (isOwn(directory)) places.push([directory, 0o700]);
  for (const [place, mode] of places) {
    if (!wider(await fs.stat(place), mode)) continue;
    try {
      await fs.chmod(place, mode);
      warnings.push(`${place} was open to other users; its permissions are tightened now`);
    } catch {
      warnings.push(`${place} is open to other users; its permissions could not be tightened`);
    }
  }
  return warnings;
}

/** A directory of any other name may serve other purposes: its permissions are left alone. */
const isOwn = (directory: string): boolean => /(^|[\\/])\.svc$/.test(directory);

/** The text of a file, or why it is none of ours; fails where there is none. */
export async function readText(
  path: string,
): Promise<{ text: string } | { reason: string }> {
  if ((await lstat(dirname(path)))?.isSymbolicLink()) {
    return { reason: "its directory is a symbolic link" };
  }
  const info = await fs.stat(path);
  if (!info.isFile() || info.size > FILE_BYTES) {
    return { reason: "it is not a file of this program" };
  }
  return { text: await fs.readFile(path, "utf8") };
}

export const refused = (message: string, cause?: unknown): SvcError =>
  new SvcError("storage_unavailable", message, { retryable: false, cause });

async function prepareDirectory(directory: string): Promise<void> {
  const info = await lstat(directory);
  if (info === undefined) {
    await fs.mkdir(directory, { recursive: true, mode: 0o700 });
    return;
  }
  if (info.isSymbolicLink()) throw refused(`${directory} is a symbolic link`);
  if (!info.isDirectory()) throw refused(`${directory} is not a directory`);
  if (isOwn(directory) && wider(info, 0o700)) await fs.chmod(directory, 0o700);
  const shared = !WINDOWS && (info.mode & 0o1002) === 0o002;
  if (shared && !isOwn(directory)) throw refused(`${directory} is writable by every user`);
}

/** Writes a new file that only its user can read, and makes it durable. */
async function writeNew(path: string, text: string, directory: string): Promise<void> {
  // An exclusive creation follows no link.
  const file = await fs.open(path, "wx", 0o600);
  try {
    const [ours, theirs] = [await file.stat(), await fs.stat(directory)];
    if (!WINDOWS && theirs.uid !== 0 && theirs.uid !== ours.uid) {
      throw refused(`${directory} belongs to another user`);
    }
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncDirectory(directory: string): Promise<void> {
  if (WINDOWS) return; // a directory cannot be opened there
  const handle = await fs.open(directory);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Writes a file as a whole or not at all: a new file with permissions 0600 in the same directory (made
 * with 0700), made durable, then renamed; a symbolic link is replaced, not followed.
 *
 * @throws {SvcError} `storage_unavailable` when the directory is a symbolic link, belongs to another
 * user or is writable by every user, or the disk refuses.
 */
export async function writePrivate(path: string, text: string): Promise<void> {
  const directory = dirname(path);
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    await prepareDirectory(directory);
    await writeNew(temporary, text, directory);
    await replaceFile(temporary, path);
    await syncDirectory(directory);
  } catch (error) {
    await fs.rm(temporary).catch(() => undefined);
    if (error instanceof SvcError) throw error;
    throw refused(`${path} cannot be written`, error);
  }
}
