import { resolve } from "node:path";
import { ageIdentitiesIn, isAgeRecipient } from "../../age_keys.ts";
import { credentialsPath } from "../../client/credentials_file.ts";
import { ownerPath, readOwner } from "../../client/owner_file.ts";
import { seedOfRecoveryWords } from "../../client/recovery_words.ts";
import { RelayerKey } from "../../sealing/relayer_key.ts";
import { keyFromHex } from "../../sealing/key_file.ts";
import { readPrivateFile } from "../../storage/private_file.ts";
import { opensWith, verifyArchive } from "../backup/archive.ts";
import { identityOfRelayerKey, identityOfWords } from "../backup/keys.ts";
import { type MadeBackup, makeBackup } from "../backup/make.ts";
import { restoreBackup } from "../backup/restore.ts";
import { invalid } from "../invalid.ts";
import { loadRelayerKey, runCommand } from "../key_source.ts";
import { recipientsIn } from "../settings/backups.ts";
import { readSettings, type Settings } from "../settings/mod.ts";
import { EMPTY } from "../settings/plugin_settings.ts";
import { type CommandIo, parseFlags, type Printed, readLine, runGroup, UsageError } from "./io.ts";
import { progressBar } from "./progress.ts";

export const BACKUP_USAGE = `Usage: svc backup [--to FOLDER] [--keep N] [--recipient age1…]
       svc backup verify FILE [--identity FILE]

Writes everything that the relayer keeps into one encrypted file, while it runs
or not, and reads it back: what was accepted before is in it. The relayer key is
in it, too. Your recovery words open it, and so does the relayer key; with
--recipient another key of age, besides. It is a tar archive below age: age and
tar open it without this program.

  --to FOLDER        instead of SVC_BACKUP_DIR, ~/.svc/backups
  --keep N           keeps the newest N of the folder, and removes the others
  --recipient age1…  one more that may open it; may be repeated
  --identity FILE    identities of age that open the backup
  --json             machine output

With SVC_BACKUP_HOURS a started relayer makes one by itself every so many hours,
and keeps SVC_BACKUP_KEEP of them. \`svc restore-backup\` puts one back.
`;

export const RESTORE_USAGE = `Usage: svc restore-backup FILE [--replace] [--identity FILE]

Puts back what \`svc backup\` wrote: the data directory and the relayer key. Stop
the relayer first. Nothing is changed before the whole backup was looked
through. On a machine that has neither the relayer key nor the recovery words it
asks for the words.

  --replace        moves the data and the key that are there aside
  --identity FILE  identities of age that open the backup
  --json           machine output
`;

/** The relayer key's identity where the key is at hand; making a key is not a backup's business. */
async function relayerIdentity(settings: Settings): Promise<string | undefined> {
  const { keyFile, keyCommand } = settings;
  if (keyFile !== undefined) {
    const found = await readPrivateFile(keyFile);
    if (found === undefined) return undefined;
    const bytes = keyFromHex(found.text.trim(), `The relayer key in ${keyFile}`);
    return identityOfRelayerKey(new RelayerKey(bytes));
  }
  // A key of a passphrase needs a salt of the data directory, which may be lost when it is needed.
  if (keyCommand === undefined) return undefined;
  return identityOfRelayerKey((await loadRelayerKey(settings, runCommand)).key);
}

async function identityOf(words: string): Promise<string | undefined> {
  const seed = await seedOfRecoveryWords(words);
  return seed && identityOfWords(seed);
}

/** Identities that this machine has: the relayer key's and the owner's. */
async function identitiesHere(settings: Settings, io: CommandIo): Promise<string[]> {
  const path = credentialsPath(io.env);
  const owner = path === undefined ? undefined : await readOwner(ownerPath(path));
  return [await relayerIdentity(settings), owner && await identityOf(owner.words)]
    .filter((identity) => identity !== undefined);
}

/** Identities of a file as age writes it: one a line, and comments. */
async function identitiesIn(path: string | undefined, cwd: string): Promise<string[]> {
  if (path === undefined) return [];
  const found = await readPrivateFile(resolve(cwd, path));
  const identities = ageIdentitiesIn(found?.text ?? "");
  if (identities.length === 0) throw invalid(`--identity: ${path} holds no identity of age`);
  return identities;
}

/** What opens a file: what is at hand, else the words that are asked for. */
async function identitiesFor(
  path: string,
  given: string | undefined,
  settings: Settings,
  io: CommandIo,
): Promise<string[]> {
  const known = [...await identitiesIn(given, io.cwd), ...await identitiesHere(settings, io)];
  if (await opensWith(path, known)) return known;
  io.writeError("No key on this machine opens it. Recovery words: ");
  const words = (await readLine(io)).toLowerCase().split(/\s+/).join(" ");
  const identity = await identityOf(words);
  if (identity === undefined) {
    throw invalid("These are no recovery words: they are twelve, from a list, and one is a check");
  }
  return [identity];
}

function settingsOf(io: CommandIo): Settings {
  const { settings, problems } = readSettings(io.env, { cwd: io.cwd });
  if (problems.length > 0) throw invalid(problems.join("\n"));
  return settings;
}

const FLAGS = {
  to: { type: "string" },
  keep: { type: "string" },
  recipient: { type: "string", multiple: true },
  identity: { type: "string" },
  replace: { type: "boolean" },
  json: { type: "boolean" },
} as const;

type Flags = ReturnType<typeof parseFlags<typeof FLAGS>>["values"];

const mebibytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

function printBackup({ path, bytes, files, removed }: MadeBackup): Printed {
  const more = removed.length === 0 ? "" : ` Removed: ${removed.length} older.`;
  const lines = [
    `Backup written, and read back: ${path}`,
    `  ${files} files, ${mebibytes(bytes)}.${more}`,
    "Keep a copy on another machine. Your recovery words open it, and so does the",
    "relayer key: svc restore-backup <file>",
  ];
  return [{ path, bytes, files, removed }, lines.join("\n") + "\n"];
}

async function make(flags: Flags, io: CommandIo): Promise<Printed> {
  const settings = settingsOf(io);
  if (settings.store !== EMPTY.store) {
    throw invalid(
      `SVC_STORE=${settings.store} keeps everything: back that up by its own tools, and the relayer key`,
    );
  }
  const recipients = [...recipientsIn(settings.backupRecipients), ...flags.recipient ?? []];
  const wrong = recipients.find((text) => !isAgeRecipient(text));
  if (wrong !== undefined) throw new UsageError("--recipient: a recipient of age begins with age1");
  const keep = flags.keep === undefined ? undefined : Number(flags.keep);
  if (keep !== undefined && !(Number.isInteger(keep) && keep >= 1)) {
    throw new UsageError("--keep: a whole number from 1");
  }
  const identities = await identitiesHere(settings, io);
  if (identities.length + recipients.length === 0) {
    throw invalid(
      "Nobody could open it: with SVC_RELAYER_KEY_PASSPHRASE_FILE name a recipient of age " +
        "(--recipient or SVC_BACKUP_RECIPIENTS)",
    );
  }
  using bar = progressBar(io, "Backup");
  const made = await makeBackup({
    dataDir: settings.dataDir,
    keyFile: settings.keyFile,
    folder: flags.to === undefined ? settings.backupDir : resolve(io.cwd, flags.to),
    keep,
    identities,
    recipients,
    progress: bar.show,
  });
  return printBackup(made);
}

async function verify(file: string, flags: Flags, io: CommandIo): Promise<Printed> {
  const path = resolve(io.cwd, file);
  await verifyArchive(path, await identitiesFor(path, flags.identity, settingsOf(io), io));
  return [{ path, ok: true }, `Every byte of ${path} is as it was written.\n`];
}

async function restore(file: string, flags: Flags, io: CommandIo): Promise<Printed> {
  const settings = settingsOf(io);
  const path = resolve(io.cwd, file);
  const identities = await identitiesFor(path, flags.identity, settings, io);
  const { dataDir, keyFile } = settings;
  const replace = flags.replace ?? false;
  const { files, key, aside } = await restoreBackup({
    path,
    identities,
    dataDir,
    keyFile,
    replace,
  });
  const lines = [
    `Restored ${files} files to ${dataDir}`,
    ...(key ? [] : ["The backup holds no relayer key: put yours where the settings say."]),
    ...aside.map((path) => `What was there before is in ${path}`),
    "Start the relayer, then sign in with your recovery words where this machine is",
    "not signed in: svc account recover --save",
  ];
  return [{ data_dir: dataDir, files, key, aside }, lines.join("\n") + "\n"];
}

function file(positionals: readonly string[]): string {
  const [path, ...more] = positionals;
  if (path === undefined || more.length > 0) throw new UsageError("Name one file");
  return path;
}

/**
 * Runs `svc backup`.
 *
 * @returns the exit code: 0 success, 1 error, 2 usage.
 */
export async function runBackup(args: readonly string[], io: CommandIo): Promise<number> {
  const run = async (): Promise<Printed> => {
    const isVerify = args[0] === "verify";
    const { values, positionals } = parseFlags(isVerify ? args.slice(1) : args, FLAGS);
    if (isVerify) return await verify(file(positionals), values, io);
    if (positionals.length > 0) throw new UsageError("Unknown argument");
    return await make(values, io);
  };
  // Without arguments it makes one, where a group would print its usage.
  return await runGroup({ usage: BACKUP_USAGE, run }, ["make", ...args], io);
}

/**
 * Runs `svc restore-backup`.
 *
 * @returns the exit code: 0 success, 1 error, 2 usage.
 */
export async function runRestoreBackup(args: readonly string[], io: CommandIo): Promise<number> {
  const run = async (): Promise<Printed> => {
    const { values, positionals } = parseFlags(args, FLAGS);
    return await restore(file(positionals), values, io);
  };
  return await runGroup({ usage: RESTORE_USAGE, run }, args, io);
}
