import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import { dirname } from "node:path";
import { platform } from "node:process";
import { replaceFile } from "../../src/replace_file.ts";
import { ConfigError } from "./entry.ts";

/** A configuration as it is on disk. */
export interface ConfigFile {
  /** The file itself, symbolic links followed: configurations are often linked from elsewhere. */
  readonly path: string;
  /** Its text; empty when there is no file. */
  readonly text: string;
  /** Permissions; absent when there is no file. */
  readonly mode?: number;
}

/** Windows has access lists instead of modes, and a new file gets those of its folder. */
const WINDOWS = platform === "win32";
/** Larger files are no configurations, in bytes. */
const FILE_BYTES = 32 * 1024 * 1024;

const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;

/** What a failure of the file system means for people. */
function failure(path: string, error: unknown): ConfigError {
  if (error instanceof ConfigError) return error;
  if (error instanceof Error && error.name === "NotCapable") {
    return new ConfigError(
      `Deno was not given access to ${path}. Allow it: ` +
        `--allow-read="${dirname(path)}" --allow-write="${dirname(path)}"`,
    );
  }
  return new ConfigError(
    `${path} cannot be read or written (${codeOf(error) ?? "unknown reason"})`,
  );
}

/** What is not there yet. Where a link leads nowhere, a new file would replace the link. */
async function absent(path: string): Promise<ConfigFile> {
  const isLink = await fs.lstat(path).then((info) => info.isSymbolicLink(), () => false);
  if (isLink) throw new ConfigError(`${path} is a symbolic link to a file that does not exist`);
  return { path, text: "" };
}

/**
 * Reads a configuration.
 *
 * @throws {ConfigError} when there is something that cannot be read, or is no text file.
 */
export async function readConfig(path: string): Promise<ConfigFile> {
  try {
    const real = await fs.realpath(path);
    const { mode, size } = await fs.stat(real);
    if (size > FILE_BYTES) throw new ConfigError(`${path} is too large`);
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(await fs.readFile(real));
    return { path: real, text, mode: mode & 0o777 };
  } catch (error) {
    if (codeOf(error) === "ENOENT") return await absent(path);
    if (error instanceof TypeError) throw new ConfigError(`${path} is not a text file`);
    throw failure(path, error);
  }
}

/** Time of a backup in its name, such as `20260131T093000Z`. */
const stamp = (now: Date): string => now.toISOString().replace(/[-:]|\.\d+/g, "");

/** Copies a file to a name that is free: two changes may fall into one second. */
async function copyAside(path: string, wanted: string): Promise<string> {
  for (let n = 1;; n++) {
    const copy = n === 1 ? wanted : `${wanted}-${n}`;
    try {
      await fs.copyFile(path, copy, constants.COPYFILE_EXCL);
      return copy;
    } catch (error) {
      if (codeOf(error) !== "EEXIST" || n === 100) throw error;
    }
  }
}

async function writeDurably(path: string, text: string, mode: number): Promise<void> {
  const file = await fs.open(path, "wx", mode);
  try {
    if (!WINDOWS) await file.chmod(mode); // whatever the umask is
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Replaces a configuration as a whole or not at all, after a copy of what was there. New files are
 * for their user alone.
 *
 * @param file What was read before.
 * @returns the path of the copy; `undefined` when there was no file.
 * @throws {ConfigError} when the file has changed since it was read, or cannot be written.
 */
export async function replaceConfig(
  file: ConfigFile,
  text: string,
  now: Date,
): Promise<string | undefined> {
  const { path, mode = 0o600 } = file;
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    await fs.mkdir(dirname(path), { recursive: true });
    if ((await readConfig(path)).text !== file.text) {
      throw new ConfigError(`${path} was changed by another program just now. Try again.`);
    }
    let backup: string | undefined;
    if (file.mode !== undefined) {
      backup = await copyAside(path, `${path}.backup-${stamp(now)}`);
      if (!WINDOWS) await fs.chmod(backup, mode);
    }
    await writeDurably(temporary, text, mode);
    await replaceFile(temporary, path);
    return backup;
  } catch (error) {
    await fs.rm(temporary, { force: true }).catch(() => undefined);
    throw failure(path, error);
  }
}
