/**
 * The credentials file (docs/protocol.md#14.1). Apart from `mod.ts`, which browsers can load: this
 * needs the file system of Deno or Node.
 *
 * @module
 */
import * as fs from "node:fs/promises";
import { SvcError } from "../errors.ts";
import {
  checkCredentials,
  CREDENTIAL_KEYS,
  type Credentials,
  type CredentialsCheck,
} from "./credentials.ts";
import { isMissing, readText, refused, tighten, writePrivate } from "./private_file.ts";
import { homeFolder } from "../home_folder.ts";

/** What reading the credentials file found. */
export type CredentialsReading = CredentialsCheck & {
  /** What was odd and is mended, one line each. */
  readonly warnings: readonly string[];
};

/**
 * Where the credentials file is: `SVC_CREDENTIALS_FILE`, else `.svc/credentials.json` in the home
 * directory.
 *
 * @returns `undefined` when the environment names neither.
 */
export function credentialsPath(
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (env.SVC_CREDENTIALS_FILE) return env.SVC_CREDENTIALS_FILE;
  const home = homeFolder(env);
  return home ? `${home}/.svc/credentials.json` : undefined;
}

/**
 * Reads the credentials file. A file that is missing, unreadable or invalid means no credentials,
 * with the reason; it is never deleted. Permissions wider than 0600 are tightened, with a warning.
 */
export async function readCredentials(path: string): Promise<CredentialsReading> {
  try {
    const read = await readText(path);
    if ("reason" in read) return { reason: read.reason, warnings: [] };
    const warnings = await tighten(path);
    return { ...await checkCredentials(JSON.parse(read.text)), warnings };
  } catch (error) {
    if (isMissing(error)) return { reason: "there is none", warnings: [] };
    const reason = error instanceof SyntaxError ? "it is not JSON" : "it cannot be read";
    return { reason, warnings: [] };
  }
}

/** Members of the present file that are not ours. */
async function foreignMembers(path: string): Promise<Record<string, unknown>> {
  const own: ReadonlySet<string> = new Set(CREDENTIAL_KEYS);
  try {
    const read = await readText(path);
    const file: unknown = "text" in read ? JSON.parse(read.text) : undefined;
    if (typeof file !== "object" || file === null || Array.isArray(file)) return {};
    return Object.fromEntries(Object.entries(file).filter(([key]) => !own.has(key)));
  } catch {
    return {}; // nothing readable to keep
  }
}

/**
 * Writes the credentials file, as {@linkcode writePrivate} does. Members of the present file that are
 * not of {@linkcode Credentials} are kept.
 *
 * @throws {SvcError} `storage_unavailable` when the directory is a symbolic link, belongs to another
 * user or is writable by every user, or the disk refuses; `invalid_parameter` when the credentials
 * break a rule.
 */
export async function writeCredentials(path: string, credentials: Credentials): Promise<void> {
  const { reason } = await checkCredentials(credentials);
  if (reason !== undefined) throw new SvcError("invalid_parameter", `Credentials: ${reason}`);
  const file = { ...credentials, ...await foreignMembers(path) };
  await writePrivate(path, JSON.stringify(file, null, 2) + "\n");
}

/**
 * Deletes the credentials file.
 *
 * @returns whether there was one.
 * @throws {SvcError} `storage_unavailable` when it cannot be deleted.
 */
export async function deleteCredentials(path: string): Promise<boolean> {
  try {
    await fs.unlink(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw refused(`${path} cannot be deleted`, error);
  }
}
