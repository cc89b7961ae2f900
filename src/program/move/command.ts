import { resolve } from "node:path";
import type { Env } from "../../interfaces/fields.ts";
import type { Role } from "../../interfaces/mod.ts";
import { invalid } from "../invalid.ts";
import { loadRelayerKey, runCommand } from "../key_source.ts";
import { cancelMove, move } from "./move.ts";
import type { PlaceOptions } from "./place.ts";
import { configuredSources } from "../plugins.ts";
import { readSettings, type Settings } from "../settings/mod.ts";
import { EMPTY } from "../settings/plugin_settings.ts";
import { type CommandIo, parseFlags, type Printed, runGroup, UsageError } from "../commands/io.ts";
import { progressBar } from "../commands/progress.ts";

export const MOVE_USAGE = `Usage: svc move --to postgres --folder FOLDER
       svc move --to local --folder FOLDER
       svc move --to … --folder FOLDER --cancel

Brings everything that a relayer keeps from its data directory to the database
of SVC_DATABASE_URL, or back, under the same relayer key: memories with their
versions, ids and times, accounts, keys, deletions, apps let in by OAuth,
waiting jobs, and what requests were answered. Stop the relayer first. It reads
everything again at the other place and compares. Ended by whatever, it goes on
when it is run again.

What it came from stays as it is until you remove it, but no relayer starts on
it any more.

  --to STORE       where to: postgres, or local for a data directory
  --folder FOLDER  an empty folder, the relayer's own one from then on: with
                   --to local everything comes to it
  --cancel         gives a move up that has not ended: relayers start again on
                   what it came from, and what it wrote is worth nothing
  --json           machine output
`;

const FLAGS = {
  to: { type: "string" },
  folder: { type: "string" },
  cancel: { type: "boolean" },
  json: { type: "boolean" },
} as const;

/** Roles whose backends may hold something. */
const ROLES: readonly Role[] = ["accounts", "blobStore", "cipher", "vectorStore"];
/** Ciphers whose data keys go from one to the other. */
const LIKE_CIPHERS: readonly string[] = ["local", "postgres"];

interface Side {
  readonly settings: Settings;
  readonly env: Env;
}

/** The settings with another store. */
function sideOf(io: CommandIo, store: string): Side {
  const env = { ...io.env, SVC_STORE: store };
  const { settings, problems } = readSettings(env, { cwd: io.cwd });
  if (problems.length > 0) throw invalid(problems.join("\n"));
  return { settings, env };
}

/** Roles that nothing is moved of: they are elsewhere, as a shared store asks of all. */
function staying({ settings: from }: Side, { settings: to }: Side): Set<Role> {
  const same = ROLES.filter((role) => from[role] === to[role]);
  const ciphers = [from.cipher, to.cipher];
  if (from.cipher !== to.cipher && !ciphers.every((name) => LIKE_CIPHERS.includes(name))) {
    throw invalid(`SVC_CIPHER: what ${from.cipher} sealed is not opened by ${to.cipher}`);
  }
  return new Set(same);
}

async function placeOf({ settings, env }: Side, dataDir: string): Promise<PlaceOptions> {
  const { store } = settings;
  const isShared = store !== EMPTY.store;
  return {
    name: isShared ? `SVC_STORE=${store}` : dataDir,
    dataDir,
    backends: await configuredSources(
      { ...settings, sponsor: EMPTY.sponsor!, languageModel: EMPTY.languageModel! },
      env,
    ),
  };
}

const plural = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;

async function run(args: readonly string[], io: CommandIo): Promise<Printed> {
  const { values, positionals } = parseFlags(args, FLAGS);
  if (positionals.length > 0) throw new UsageError("Unknown argument");
  if (values.to === undefined) throw new UsageError("Say where to: --to postgres or --to local");
  if (values.folder === undefined) throw new UsageError("Name an empty folder: --folder");
  const isBack = values.to === EMPTY.store;
  const store = io.env["SVC_STORE"] || EMPTY.store!;
  if (isBack && store === EMPTY.store) {
    throw new UsageError("--to local: SVC_STORE must say where everything is now");
  }
  const [here, there] = [sideOf(io, isBack ? store : EMPTY.store!), sideOf(io, values.to)];
  const { settings } = here;
  const folder = resolve(io.cwd, values.folder);
  if (folder === resolve(settings.dataDir)) {
    throw new UsageError("--folder: that is the present one; name an empty folder");
  }
  if (!await isThere(settings.dataDir) && !isBack) {
    throw invalid(`There is nothing in ${settings.dataDir} yet`);
  }
  const from = await placeOf(here, settings.dataDir);
  if (values.cancel) {
    await cancelMove(from);
    const text = `Given up: relayers start on ${from.name} again. Remove what is in ${
      isBack ? folder : `the schema svc of the database, and in ${folder}`
    }.\n`;
    return [{ cancelled: true }, text];
  }
  const stays = staying(here, there);
  const { key } = await loadRelayerKey(settings, runCommand);
  const to = await placeOf(there, folder);
  using bar = progressBar(io, "Move");
  const moved = await move({
    from,
    to,
    relayerKey: key,
    relayerKeySource: settings.keyFile ?? settings.keyPassphraseFile ?? "SVC_RELAYER_KEY_COMMAND",
    stays,
    progress: bar.show,
  });
  return printMoved(moved, { from: from.name, folder, store: values.to });
}

const isThere = (path: string) => Deno.stat(`${path}/core.db`).then(() => true, () => false);

function printMoved(
  moved: Awaited<ReturnType<typeof move>>,
  { from, folder, store }: {
    readonly from: string;
    readonly folder: string;
    readonly store: string;
  },
): Printed {
  const { owners = 0, memories = 0, blobs = 0, jobs = 0, unfinished = 0 } = moved ?? {};
  const waiting = unfinished === 0
    ? ""
    : `  ${plural(unfinished, "job waits", "jobs wait")}: the relayer there goes on.\n`;
  const text = `${
    moved === undefined ? "All of it was there already, and is whole.\n" : `Moved, and read again:
  ${plural(owners, "owner", "owners")}, ${plural(memories, "memory", "memories")}, ${
      plural(blobs, "blob", "blobs")
    }, ${plural(jobs, "record of a job", "records of jobs")}
${waiting}`
  }Start the relayer with SVC_STORE=${store} SVC_DATA_DIR=${folder}
No relayer starts on ${from} any more. Remove it when you no longer need it, and make a
backup now: older ones hold what was before.
`;
  return [{ store, data_dir: folder, owners, memories, blobs, jobs, unfinished }, text];
}

/**
 * Runs `svc move`.
 *
 * @returns the exit code: 0 success, 1 error, 2 usage.
 */
export async function runMove(args: readonly string[], io: CommandIo): Promise<number> {
  return await runGroup({ usage: MOVE_USAGE, run: () => run(args, io) }, args, io);
}
