import { invalid } from "./invalid.ts";
import { scrypt } from "node:crypto";
import {
  createPrivateFile,
  ensurePrivateFolder,
  folderOf,
  readPrivateFile,
} from "../storage/private_file.ts";
import { keyFromHex, openKeyFile } from "../sealing/key_file.ts";
import { RelayerKey } from "../sealing/relayer_key.ts";
import { isInside } from "./settings/checks.ts";
import type { Settings } from "./settings/mod.ts";

type RunCommand = (command: string, args: readonly string[]) => Promise<string>;

/** The relayer key, and warnings about the file it came from. */
interface LoadedKey {
  readonly key: RelayerKey;
  /** What was mended, one line each. */
  readonly warnings: readonly string[];
}

export type KeySettings = Pick<
  Settings,
  "dataDir" | "keyCommand" | "keyFile" | "keyPassphraseFile"
>;

const firstLine = (text: string) => text.split(/\r?\n/, 1)[0] ?? "";

/** The real path of the nearest folder that exists above a path, and the rest as it is. */
async function realPath(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch {
    const folder = folderOf(path);
    if (folder === path || folder === ".") return path;
    return `${await realPath(folder)}${path.slice(folder.length)}`;
  }
}

async function checkOutside(name: string, path: string, dataDir: string): Promise<void> {
  if (isInside(await realPath(path), await realPath(dataDir))) {
    throw invalid(`${name} must be outside SVC_DATA_DIR`);
  }
}

/** Whether there is something; other errors are reported where the path is opened. */
function exists(path: string): Promise<boolean> {
  return Deno.lstat(path).then(() => true, (error) => !(error instanceof Deno.errors.NotFound));
}

/**
 * Refuses to make a missing key file or salt where there is data already: it would not open under a
 * new key.
 */
async function checkFirstStart(path: string, dataDir: string): Promise<void> {
  const file = `${dataDir}/core.db`;
  if (await exists(path) || !await exists(file)) return;
  // Imported here: most starts need no database in the launcher.
  const { CoreDb } = await import("../storage/core_db.ts");
  using core = new CoreDb(file);
  // Accounts may have been created before the first start.
  if (!core.isBound) return;
  throw invalid(
    `${path} does not exist, but the data in ${dataDir} is sealed under the relayer key that ` +
      "belongs to it: put the file back",
  );
}

async function fromFile(path: string, dataDir: string): Promise<LoadedKey> {
  await checkOutside("SVC_RELAYER_KEY_FILE", path, dataDir);
  const { bytes, warnings } = await openKeyFile(path, {
    beforeMaking: () => checkFirstStart(path, dataDir),
  });
  return { key: new RelayerKey(bytes), warnings };
}

/** scrypt (RFC 7914) with N = 2^15, r = 8, p = 1: 32 MiB and about 0.1 s. */
function derive(passphrase: string, salt: Uint8Array): Promise<Uint8Array> {
  const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  scrypt(passphrase, salt, 32, cost, (error, key) => error ? reject(error) : resolve(key));
  return promise;
}

async function fromPassphrase(path: string, dataDir: string): Promise<LoadedKey> {
  await checkOutside("SVC_RELAYER_KEY_PASSPHRASE_FILE", path, dataDir);
  const { passphrase, warnings: mended } = await readPassphrase(
    path,
    "SVC_RELAYER_KEY_PASSPHRASE_FILE",
  );
  const warnings = [...mended, ...await ensurePrivateFolder(dataDir)];
  // The salt is no secret; without it the passphrase alone does not give the key.
  const saltPath = `${dataDir}/relayer.salt`;
  await checkFirstStart(saltPath, dataDir);
  await createPrivateFile(saltPath, crypto.getRandomValues(new Uint8Array(16)).toHex() + "\n");
  return { key: await salted(passphrase, saltPath), warnings };
}

async function readPassphrase(path: string, name: string) {
  const found = await readPrivateFile(path);
  if (found === undefined) throw invalid(`${name}: ${path} does not exist`);
  const passphrase = firstLine(found.text).normalize("NFC");
  if (passphrase.length < 12) throw invalid("The passphrase must have at least 12 characters");
  return { passphrase, warnings: found.warnings };
}

async function salted(passphrase: string, saltPath: string): Promise<RelayerKey> {
  const salt = (await readPrivateFile(saltPath))?.text.trim() ?? "";
  if (!/^[0-9a-f]{32}$/.test(salt)) throw invalid(`${saltPath} must be 32 hex characters`);
  return new RelayerKey(await derive(passphrase, Uint8Array.fromHex(salt)));
}

/**
 * The relayer key that a passphrase or a key command will answer once it is changed.
 *
 * @param path A file with the next passphrase, or the 64 hex characters that the command will print.
 * @throws {SvcError} `invalid_parameter` when there is no usable key in it.
 */
export async function readNextKey(path: string, settings: KeySettings): Promise<RelayerKey> {
  if (settings.keyPassphraseFile !== undefined) {
    const { passphrase } = await readPassphrase(path, "--next");
    return await salted(passphrase, `${settings.dataDir}/relayer.salt`);
  }
  const found = await readPrivateFile(path);
  if (found === undefined) throw invalid(`--next: ${path} does not exist`);
  return new RelayerKey(keyFromHex(firstLine(found.text).trim(), `The first line of ${path}`));
}

async function fromCommand(line: string, run: RunCommand): Promise<LoadedKey> {
  const [command = "", ...args] = line.trim().split(/\s+/);
  let output: string;
  try {
    output = await run(command, args);
  } catch (error) {
    throw invalid(`SVC_RELAYER_KEY_COMMAND failed: ${command} did not answer a key`, error);
  }
  const source = "The first line of SVC_RELAYER_KEY_COMMAND's output";
  return { key: new RelayerKey(keyFromHex(firstLine(output).trim(), source)), warnings: [] };
}

/**
 * Finds the relayer key where the settings say, and makes its file at first start.
 *
 * @throws {SvcError} `invalid_parameter` when there is no usable key; the message never holds a
 * part of it.
 */
export async function loadRelayerKey(settings: KeySettings, run: RunCommand): Promise<LoadedKey> {
  const { dataDir, keyCommand, keyFile, keyPassphraseFile } = settings;
  if (keyCommand !== undefined) return await fromCommand(keyCommand, run);
  if (keyPassphraseFile !== undefined) return await fromPassphrase(keyPassphraseFile, dataDir);
  if (keyFile !== undefined) return await fromFile(keyFile, dataDir);
  throw invalid("SVC_RELAYER_KEY_FILE is not set");
}

/** Runs a command with `Deno.Command`; what it prints on stderr goes to the terminal. */
export async function runCommand(command: string, args: readonly string[]): Promise<string> {
  const child = new Deno.Command(command, { args: [...args], stdout: "piped", stderr: "inherit" });
  const { success, code, stdout } = await child.output();
  if (!success) throw new Error(`exit code ${code}`);
  return new TextDecoder().decode(stdout);
}
