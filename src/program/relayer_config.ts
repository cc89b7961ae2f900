import type { RelayerConfig } from "../interfaces/config.ts";
import { DEFAULT_CONFIG } from "../interfaces/config.ts";
import { indexBytes } from "../index/budget.ts";
import type { Settings } from "./settings/mod.ts";
import { VERSION } from "../wire/version.ts";

/** The process ends as if the power had failed, at the named point of the flow. */
function failAt(name: string | undefined): (point: string) => void {
  if (name === undefined) return DEFAULT_CONFIG.failpoint;
  return (point) => {
    if (point === name) Deno.kill(Deno.pid, "SIGKILL");
  };
}

/** What the settings mean for a relayer. */
export function relayerConfig(settings: Settings): RelayerConfig {
  const { buildCommit, buildTimestamp, testDispatch } = settings;
  return {
    ...DEFAULT_CONFIG,
    version: VERSION,
    build: {
      ...(buildCommit === undefined ? {} : { commit: buildCommit }),
      ...(buildTimestamp === undefined ? {} : { buildTimestamp }),
    },
    publicUrl: settings.publicUrl,
    webUrl: settings.webUrl,
    allowedOrigins: settings.allowedOrigins,
    allowedHosts: settings.allowedHosts,
    trustedProxies: settings.trustedProxies,
    network: settings.suiNetwork,
    compatSuiRpcUrl: settings.compatSuiRpcUrl,
    packageId: settings.packageId,
    registryId: settings.registryId,
    defaultAccountId: settings.accountId,
    accountCacheTtlSeconds: settings.accountCacheTtlSeconds,
    accountNegativeTtlSeconds: settings.accountNegativeTtlSeconds,
    accountStaleSeconds: settings.accountStaleSeconds,
    accountLookupsPerMinute: settings.accountLookupsPerMinute,
    requireNonce: settings.requireNonce,
    recallWaitMs: settings.recallWaitMs,
    manualWaitMs: settings.manualWaitMs,
    jobConcurrency: settings.jobConcurrency,
    jobMaxAttempts: settings.jobMaxAttempts,
    jobRetentionDays: settings.jobRetentionDays,
    maxPendingJobs: settings.maxPendingJobs,
    dispatch: {
      process: testDispatch.includes("process"),
      queue: testDispatch.includes("queue"),
      sweeper: testDispatch.includes("sweeper"),
    },
    idempotencyHours: settings.idempotencyHours,
    embeddingCacheTtlSeconds: settings.embeddingCacheTtlSeconds,
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
    analyzeRequiresLlm: settings.analyzeRequiresLlm,
    llmCalls: settings.llmCalls,
    quotaBytes: settings.quotaBytes,
    indexMemoryBytes: indexBytes(settings.indexMemoryMb * 1024 * 1024),
    openRegistration: settings.openRegistration,
    metricsPublic: settings.metricsPublic,
    compatAliases: settings.compatAliases,
    failpoint: failAt(settings.failpoint),
  };
}
