import { resolve } from "node:path";
import { writePrivate } from "../../client/private_file.ts";
import { letInNextKey, openDataKey } from "../../sealing/data_key.ts";
import { RelayerKey } from "../../sealing/relayer_key.ts";
import { CoreDb } from "../../storage/core_db.ts";
import { lockKeyChange } from "../../storage/data_lock.ts";
import { createPrivateFile } from "../../storage/private_file.ts";
import { invalid } from "../invalid.ts";
import { loadRelayerKey, readNextKey, runCommand } from "../key_source.ts";
import { readSettings, type Settings } from "../settings/mod.ts";
import { type CommandIo, parseFlags, type Printed, runGroup, UsageError } from "./io.ts";
import { EMPTY } from "../settings/plugin_settings.ts";
import { inSharedCore } from "./shared_core.ts";

export const KEY_USAGE = `Usage: svc key rotate [--keep-old FILE]
       svc key rotate --next FILE

Changes the relayer key, while the relayer runs or not. Nothing is sealed anew:
the data stays sealed under its first relayer key, which is kept sealed under
the new one. So the first key opens the data for good: keep it where you keep
backups, since it and the blobs alone bring everything back. After it was stolen
only a new data directory helps, into which the memories are imported. Keys that
came after the first open nothing any more once they were changed.

  --keep-old FILE  keeps the old key there, for the backups from before
  --next FILE      the next passphrase with SVC_RELAYER_KEY_PASSPHRASE_FILE, the
                   next key (64 hex characters) with SVC_RELAYER_KEY_COMMAND, or
                   with SVC_STORE also for key files: both keys open the data
                   until a relayer was started with the next one
  --json           machine output
`;

const FIRST_KEY = `The old key was the first of this data, which stays sealed under it: who has both
opens it still.
`;

function settingsOf(io: CommandIo): Settings {
  const { settings, problems } = readSettings(io.env, { cwd: io.cwd });
  if (problems.length > 0) throw invalid(problems.join("\n"));
  return settings;
}

const SAME = "--next: it is the present key";
const CHANGED_SINCE =
  "The relayer key was changed since: use the key that was let in last, or name " +
  "that one with --next once more";

const exists = (path: string) => Deno.lstat(path).then(() => true, () => false);

/** Puts a new key into the key file. Whatever ends it, the file holds a key that opens the data. */
async function rotateFile(
  core: CoreDb,
  keyFile: string,
  present: RelayerKey,
  keepOld: string | undefined,
): Promise<Printed> {
  const next = new RelayerKey(crypto.getRandomValues(new Uint8Array(32)));
  if (keepOld !== undefined && !await createPrivateFile(keepOld, `${present.reveal()}\n`)) {
    throw invalid(`--keep-old: ${keepOld} exists`);
  }
  const isShutOut = letInNextKey(core, present, next, keyFile);
  await writePrivate(keyFile, `${next.reveal()}\n`);
  openDataKey(core, next, keyFile);
  core.emptyLog();
  const kept = keepOld === undefined
    ? "The old key is gone: no backup from before opens with it; recovery words still open"
    : `The old key is in ${keepOld}, for backups from before; recovery words open`;
  const text = `${keyFile} holds a new relayer key; a running relayer goes on.
${kept}
those they were made for. Make a backup with the new key now: svc backup
${isShutOut ? "" : FIRST_KEY}`;
  return [{ key_file: keyFile, old_key_shut_out: isShutOut, kept: keepOld ?? null }, text];
}

/** Lets the next key of relayers in that share a store. Those that run need it when they start again. */
async function rotateShared(settings: Settings, path: string, io: CommandIo): Promise<Printed> {
  const isShutOut = await inSharedCore(settings, io.env, async (core) => {
    if (core.openedBy.length === 0) {
      throw invalid(`There is nothing in SVC_STORE=${settings.store} yet`);
    }
    const { key: present } = await loadRelayerKey(settings, runCommand);
    const next = await readNextKey(path, settings);
    if (next.fingerprint() === present.fingerprint()) throw invalid(SAME);
    // The first key opens the data for good: whoever has it still would shut the others out.
    const last = core.openedBy.at(-1);
    if (core.openedBy.includes(present.fingerprint()) && last !== present.fingerprint()) {
      if (last !== next.fingerprint()) throw invalid(CHANGED_SINCE);
    }
    return letInNextKey(core, present, next, undefined, "the shared store");
  });
  const text =
    `Both keys open the data now, and relayers that run go on. Give every machine the next
key first, then restart one relayer after the other: the first start with the next key shuts the
old one out.
${isShutOut ? "" : FIRST_KEY}`;
  return [{ old_key_shut_out: false }, text];
}

async function rotate(args: readonly string[], io: CommandIo): Promise<Printed> {
  const { values, positionals } = parseFlags(args, {
    "keep-old": { type: "string" },
    next: { type: "string" },
    json: { type: "boolean" },
  });
  if (positionals.length > 0) throw new UsageError("Unknown argument");
  const settings = settingsOf(io);
  const { dataDir, keyFile, keyPassphraseFile, keyCommand } = settings;
  if (settings.store !== EMPTY.store) {
    if (values.next === undefined || values["keep-old"] !== undefined) {
      throw new UsageError(
        `SVC_STORE=${settings.store}: name the next key of all relayers with --next`,
      );
    }
    return await rotateShared(settings, resolve(io.cwd, values.next), io);
  }
  if (!await exists(`${dataDir}/core.db`)) throw invalid(`There is nothing in ${dataDir} yet`);
  const isFile = keyPassphraseFile === undefined && keyCommand === undefined;
  if (isFile !== (values.next === undefined)) {
    throw new UsageError(
      isFile
        ? "--next is for a passphrase or a key command; the key file gets a random key"
        : "The relayer key is not in a file of ours: name the next one with --next",
    );
  }
  using _one = await lockKeyChange(dataDir);
  const { key: present } = await loadRelayerKey(settings, runCommand);
  using core = new CoreDb(`${dataDir}/core.db`);
  core.requireHere();
  const keepOld = values["keep-old"];
  if (isFile) {
    return await rotateFile(core, keyFile!, present, keepOld && resolve(io.cwd, keepOld));
  }
  if (keepOld !== undefined) throw new UsageError("--keep-old is for the key file");
  const next = await readNextKey(resolve(io.cwd, values.next!), settings);
  if (next.fingerprint() === present.fingerprint()) throw invalid(SAME);
  const isShutOut = letInNextKey(core, present, next);
  const place = keyCommand === undefined
    ? `Put the next passphrase into ${keyPassphraseFile}`
    : "Let SVC_RELAYER_KEY_COMMAND print the next key";
  const text = `Both keys open the data now. ${place},
then restart the relayer: its first start with the next key shuts the old one out.
${isShutOut ? "" : FIRST_KEY}`;
  return [{ old_key_shut_out: false }, text];
}

/**
 * Runs `svc key`.
 *
 * @returns the exit code: 0 success, 1 error, 2 usage.
 */
export async function runKey(args: readonly string[], io: CommandIo): Promise<number> {
  const run = async () => {
    if (args[0] !== "rotate") throw new UsageError("Say rotate");
    return await rotate(args.slice(1), io);
  };
  return await runGroup({ usage: KEY_USAGE, run }, args, io);
}
