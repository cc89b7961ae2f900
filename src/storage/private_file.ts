import { SvcError } from "../errors.ts";

const POSIX = Deno.build.os !== "windows";

const refused = (message: string, cause?: unknown) =>
  new SvcError("invalid_parameter", message, { cause });

/**
 * Makes a folder only its user can enter; one that exists is left as it is.
 *
 * @throws {SvcError} `invalid_parameter` when it cannot be made.
 */
export async function makePrivateFolder(path: string): Promise<void> {
  try {
    await Deno.mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw refused(`${path} cannot be used as a folder`, error);
  }
}

/**
 * Makes a folder only its user can enter, or checks that it is one. Wider permissions of a folder
 * that exists are taken away.
 *
 * @returns what was mended, one line each.
 * @throws {SvcError} `invalid_parameter` when the path is a link, no folder, or cannot be made.
 */
export async function ensurePrivateFolder(path: string): Promise<string[]> {
  await makePrivateFolder(path);
  try {
    const info = await Deno.lstat(path);
    if (info.isSymlink) throw refused(`${path} is a symbolic link`);
    return await tighten(path, info, 0o700);
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw refused(`${path} cannot be used as a folder`, error);
  }
}

function isWider({ mode }: Deno.FileInfo, wanted: number): boolean {
  return POSIX && ((mode ?? 0) & 0o777 & ~wanted) !== 0;
}

async function tighten(path: string, info: Deno.FileInfo, mode: number): Promise<string[]> {
  if (!isWider(info, mode)) return [];
  await Deno.chmod(path, mode);
  return [`${path} was open to other users; its permissions are tightened now`];
}

interface PrivateText {
  readonly text: string;
  /** What was mended, one line each. */
  readonly warnings: readonly string[];
}

/**
 * Reads a secret's file; permissions wider than 0600 are taken away, or refused.
 *
 * @returns `undefined` when there is none.
 * @throws {SvcError} `invalid_parameter` when it is a link, no file, too large, unreadable, or open
 * to other users where that is refused.
 */
export async function readPrivateFile(
  path: string,
  { refusesOpen = false }: { readonly refusesOpen?: boolean | undefined } = {},
): Promise<PrivateText | undefined> {
  try {
    const info = await Deno.lstat(path);
    if (info.isSymlink) throw refused(`${path} is a symbolic link`);
    if (!info.isFile || info.size > 65_536) {
      throw refused(`${path} is not a file of at most 64 KiB`);
    }
    if (refusesOpen && isWider(info, 0o600)) {
      throw refused(`${path} is open to other users: take their permissions away (chmod 600)`);
    }
    const warnings = await tighten(path, info, 0o600);
    return { text: await Deno.readTextFile(path), warnings };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    if (error instanceof SvcError) throw error;
    throw refused(`${path} cannot be read`, error);
  }
}

/**
 * Writes a secret's file whole or not at all, durable on return, 0600. A file that exists is never
 * replaced and a link never followed.
 *
 * @returns whether it was written; `false` when there is one.
 * @throws {SvcError} `invalid_parameter` when the disk refuses.
 */
export async function createPrivateFile(path: string, text: string): Promise<boolean> {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    await writeDurably(temporary, text);
    try {
      // A hard link, unlike a rename, refuses to replace a file made in between.
      await Deno.link(temporary, path);
    } finally {
      await Deno.remove(temporary);
    }
    await syncFolder(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return false;
    throw refused(`${path} cannot be written`, error);
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  using file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
  const bytes = new TextEncoder().encode(text);
  for (let done = 0; done < bytes.length;) done += await file.write(bytes.subarray(done));
  await file.sync();
}

async function syncFolder(path: string): Promise<void> {
  if (!POSIX) return; // a folder cannot be opened there
  using folder = await Deno.open(folderOf(path));
  await folder.sync();
}

export function folderOf(path: string): string {
  const end = Math.max(path.lastIndexOf("/"), POSIX ? -1 : path.lastIndexOf("\\"));
  return end < 0 ? "." : path.slice(0, end) || "/";
}
