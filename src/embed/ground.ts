import { SvcError } from "../errors.ts";
import { completeConfig, type RelayerConfig } from "../interfaces/config.ts";
import { JobsFileScrub, openJobsFile } from "../jobs/jobs_file.ts";
import { type Logger, silentLogger } from "../log.ts";
import { openDataKey } from "../sealing/data_key.ts";
import { RelayerKey } from "../sealing/relayer_key.ts";
import type { StateStore } from "../interfaces/mod.ts";
import { CoreDb } from "../storage/core_db.ts";
import { COMMON, type LedgerMirror } from "../storage/ledger_mirror.ts";
import { lockDataFolder } from "../storage/data_lock.ts";
import { makePrivateFolder } from "../storage/private_file.ts";
import type { RelayerOptions } from "./relayer_options.ts";

/** Relayer key of a relayer that keeps nothing. */
function keyOf({ dataDir, relayerKey }: RelayerOptions): RelayerKey {
  if (relayerKey?.length !== 32 && (dataDir ?? relayerKey) !== undefined) {
    throw new SvcError("invalid_parameter", "dataDir needs a relayerKey of 32 bytes");
  }
  return new RelayerKey(relayerKey ?? crypto.getRandomValues(new Uint8Array(32)));
}

/** What a relayer stands on, opened before its backends. */
export interface Ground {
  readonly dataDir: string | undefined;
  readonly key: RelayerKey;
  /** What a relayer must not lose; in RAM where a shared store has it. */
  readonly core: CoreDb;
  /** What is this relayer's alone: what keys did here, and what was sponsored. */
  readonly own: CoreDb;
  /** Jobs; absent where a shared store has them. */
  readonly file: JobsFile | undefined;
  /** What several relayers share. */
  readonly shared: { readonly store: StateStore; readonly mirror: LedgerMirror } | undefined;
  readonly config: RelayerConfig;
  readonly logger: Logger;
  readonly now: () => number;
}

/** `jobs.kv`, opened. */
interface JobsFile {
  readonly kv: Deno.Kv;
  readonly scrub: JobsFileScrub;
  /** Its promise settles after the file was closed, where the queue is listened to. */
  readonly queue: { listening?: Promise<void> };
}

async function openJobs(
  dataDir: string | undefined,
  stack: AsyncDisposableStack,
): Promise<JobsFile> {
  // The queue's listener ends after the table was closed, not with it.
  const queue: JobsFile["queue"] = {};
  stack.defer(async () => await queue.listening);
  const scrub = stack.use(new JobsFileScrub(dataDir));
  const kv = stack.adopt(await openJobsFile(dataDir), (opened) => {
    opened.close();
    scrub.end();
  });
  return { kv, scrub, queue };
}

/** Times that two relayers may write the first rows of a shared store at once. */
const TRIES = 5;

/** Opens what a shared store has, with the key that it is sealed under. */
async function openShared(options: RelayerOptions, store: StateStore, core: CoreDb) {
  const mirror = core.mirror(store.ledger);
  for (let tried = 1;; tried++) {
    await mirror.load(COMMON);
    core.requireHere();
    const key = openDataKey(core, keyOf(options), options.relayerKeySource, "the shared store");
    const packageId = core.packageId();
    try {
      await mirror.flush(COMMON);
    } catch (error) {
      if (tried === TRIES) throw error;
      continue;
    }
    mirror.sealWith(key.sealer("ledger"));
    await mirror.load(COMMON);
    return { key, packageId, mirror };
  }
}

/**
 * Takes the data directory, and opens what lies in it.
 *
 * @throws {SvcError} `invalid_parameter` when the key is missing, or the folder is in use or belongs to
 * another key; `storage_unavailable` when a file cannot be used.
 */
export async function openGround(
  options: RelayerOptions,
  store: StateStore | undefined,
  stack: AsyncDisposableStack,
): Promise<Ground> {
  const { dataDir, logger = silentLogger, now = Date.now } = options;
  const given = completeConfig(options.config);
  if (dataDir !== undefined) {
    await makePrivateFolder(dataDir);
    stack.use(await lockDataFolder(dataDir));
  }
  const own = stack.use(new CoreDb(dataDir === undefined ? ":memory:" : `${dataDir}/core.db`));
  const rest = { dataDir, own, logger, now };
  if (store !== undefined) {
    own.requireHere();
    if (own.isBound) throw new SvcError("invalid_parameter", NOT_SHARED);
    const core = stack.use(new CoreDb(":memory:"));
    const { key, packageId, mirror } = await openShared(options, store, core);
    const config = { ...given, packageId: (given.packageId ?? packageId).toLowerCase() };
    return { ...rest, key, core, config, file: undefined, shared: { store, mirror } };
  }
  own.requireHere();
  const key = openDataKey(own, keyOf(options), options.relayerKeySource);
  const file = await openJobs(dataDir, stack);
  const packageId = (given.packageId ?? own.packageId()).toLowerCase();
  return { ...rest, key, core: own, config: { ...given, packageId }, file, shared: undefined };
}

const NOT_SHARED = "The data directory holds what a relayer kept without a shared store: " +
  "give this one a folder of its own";
