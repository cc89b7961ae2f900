import { DEFAULT_CONFIG, type RelayerConfig } from "../interfaces/config.ts";
import { indexBytes } from "../index/budget.ts";
import type { Settings } from "./settings/mod.ts";
import { VERSION } from "../wire/version.ts";

/** Kills the process at the named point of the flow, as a power failure would. */
function failAt(name: string | undefined): (point: string) => void {
  if (name === undefined) return DEFAULT_CONFIG.failpoint;
  return (point) => {
    if (point === name) Deno.kill(Deno.pid, "SIGKILL");
  };
}

type Shared = Pick<Settings, keyof Settings & keyof RelayerConfig>;

/** The settings that the configuration has under the same name. */
function sharedBy(settings: Settings): Shared {
  const shared = Object.entries(settings).filter(([name]) => name in DEFAULT_CONFIG);
  return Object.fromEntries(shared) as Shared;
}

/** What the settings mean for a relayer. */
export function relayerConfig(settings: Settings): RelayerConfig {
  const { buildCommit, buildTimestamp, testDispatch } = settings;
  return {
    ...DEFAULT_CONFIG,
    ...sharedBy(settings),
    version: VERSION,
    build: {
      ...(buildCommit === undefined ? {} : { commit: buildCommit }),
      ...(buildTimestamp === undefined ? {} : { buildTimestamp }),
    },
    network: settings.suiNetwork,
    defaultAccountId: settings.accountId,
    dispatch: {
      process: testDispatch.includes("process"),
      queue: testDispatch.includes("queue"),
      sweeper: testDispatch.includes("sweeper"),
    },
    rateLimit: {
      keyPerMinute: settings.rateKeyPerMinute,
      accountPerMinute: settings.rateAccountPerMinute,
      accountPerHour: settings.rateAccountPerHour,
      freeReadsPerSecond: settings.rateFreeReadsPerSecond,
      weights: settings.rateWeights,
      disabled: settings.rateDisabled,
    },
    sponsor: {
      perMinute: settings.sponsorPerMinute,
      perHour: settings.sponsorPerHour,
      maxGasMist: settings.sponsorMaxGasMist,
      dailyGasMist: settings.sponsorDailyGasMist,
    },
    indexMemoryBytes: indexBytes(settings.indexMemoryMb * 1024 * 1024),
    failpoint: failAt(settings.failpoint),
  };
}
