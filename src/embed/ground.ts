import { SvcError } from "../errors.ts";
import { completeConfig, type RelayerConfig } from "../interfaces/config.ts";
import { JobsFileScrub, openJobsFile } from "../jobs/jobs_file.ts";
import { type Logger, silentLogger } from "../log.ts";
import { openDataKey } from "../sealing/data_key.ts";
import { RelayerKey } from "../sealing/relayer_key.ts";
import { CoreDb } from "../storage/core_db.ts";
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
  readonly core: CoreDb;
  readonly kv: Deno.Kv;
  readonly jobsScrub: JobsFileScrub;
  readonly config: RelayerConfig;
  readonly logger: Logger;
  readonly now: () => number;
  /** Its promise settles after the jobs file was closed, where the queue is listened to. */
  readonly queue: { listening?: Promise<void> };
}

/**
 * Takes the data directory, and opens what lies in it.
 *
 * @throws {SvcError} `invalid_parameter` when the key is missing, or the folder is in use or belongs to
 * another key; `storage_unavailable` when a file cannot be used.
 */
export async function openGround(
  options: RelayerOptions,
  stack: AsyncDisposableStack,
): Promise<Ground> {
  const { dataDir, logger = silentLogger, now = Date.now } = options;
  const given = completeConfig(options.config);
  if (dataDir !== undefined) {
    await makePrivateFolder(dataDir);
    stack.use(await lockDataFolder(dataDir));
  }
  const core = stack.use(new CoreDb(dataDir === undefined ? ":memory:" : `${dataDir}/core.db`));
  const key = openDataKey(core, keyOf(options), options.relayerKeySource);
  // The queue's listener ends after the table was closed, not with it.
  const queue: Ground["queue"] = {};
  stack.defer(async () => await queue.listening);
  const jobsScrub = stack.use(new JobsFileScrub(dataDir));
  const kv = stack.adopt(await openJobsFile(dataDir), (opened) => {
    opened.close();
    jobsScrub.end();
  });
  const packageId = (given.packageId ?? core.packageId()).toLowerCase();
  return { dataDir, key, core, kv, config: { ...given, packageId }, logger, now, queue, jobsScrub };
}
