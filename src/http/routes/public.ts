import type { RelayerConfig } from "../../interfaces/config.ts";
import { SvcError } from "../../errors.ts";
import { EXTRACT_PROMPT_VERSION } from "../../memory/analyze/prompt.ts";
import { ASK_PROMPT_VERSION } from "../../memory/ask/prompt.ts";
import type { Domain } from "../../memory/domain.ts";
import type { DependencyHealth } from "../health.ts";
import { isLoopback } from "../../wire/ip_addresses.ts";
import { isForwarded } from "../client_ip.ts";
import { baseUrl, type RequestContext } from "../request_context.ts";

/** API version of the protocol. */
export const API_VERSION = "1.0.0";

/** Feature flags: only what is built. */
function featureFlags(config: RelayerConfig): Record<string, boolean> {
  return {
    "auth.accountBoundNonce": true,
    "auth.sealSessionHeader": true,
    "auth.legacySignature": !config.requireNonce,
    "config.publicDeploymentMetadata": true,
    "remember.asyncJobs": true,
    "remember.bulk": true,
    "remember.idempotencyKey": true,
    "recall.readYourWrites": true,
    "recall.hybrid": true,
    "memories.manage": true,
    "memories.export": false,
    "runtime.versionEndpoint": true,
  };
}

/** Body of GET /version. */
export function versionBody(config: RelayerConfig): Record<string, unknown> {
  return {
    relayerVersion: config.version,
    apiVersion: API_VERSION,
    minSupportedSdk: { typescript: "0.0.1", python: "0.1.0", mcp: "0.0.1" },
    featureFlags: featureFlags(config),
    deprecations: [],
    build: config.build,
  };
}

/** Body of GET /config. */
export function configBody(domain: Domain, context: RequestContext): Record<string, unknown> {
  const { config, embedder } = domain;
  const base = baseUrl(config, context.request);
  return {
    packageId: config.packageId,
    network: config.network,
    suiRpcUrl: config.compatSuiRpcUrl ?? `${base}/compat/sui`,
    rateLimitDisabled: config.rateLimit.disabled,
    ...(config.registryId === undefined ? {} : { registryId: config.registryId }),
    embeddingModel: embedder.model,
    embeddingDimensions: embedder.dimensions,
    nonceRequired: config.requireNonce,
    sponsorEnabled: domain.sponsor !== undefined,
    mcpUrl: `${base}/api/mcp`,
  };
}

/** Answer of GET /health: 200 when a write can be accepted. */
export function healthAnswer(
  config: RelayerConfig,
  dependencies: Readonly<Record<string, DependencyHealth>>,
): { status: number; body: Record<string, unknown> } {
  const writable = dependencies.database?.status !== "down" &&
    dependencies.queue?.status !== "down";
  const troubled = Object.values(dependencies).some(({ status }) =>
    status === "down" || status === "degraded"
  );
  return {
    status: writable ? 200 : 503,
    body: {
      status: !writable ? "unavailable" : troubled ? "degraded" : "ok",
      version: config.version,
      mode: "production",
      prompt_versions: { extract: EXTRACT_PROMPT_VERSION, ask: ASK_PROMPT_VERSION },
      dependencies,
      ...versionBody(config),
    },
  };
}

/**
 * Lets /metrics through for this machine only.
 *
 * @throws {SvcError} `metrics_forbidden`.
 */
export function checkMetricsAccess(config: RelayerConfig, context: RequestContext): void {
  const forwarded = isForwarded(context.request.headers);
  if (!config.metricsPublic && (forwarded || !isLoopback(context.peer))) {
    throw new SvcError("metrics_forbidden");
  }
}
