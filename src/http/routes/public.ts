import type { RelayerConfig } from "../../interfaces/config.ts";
import { SvcError } from "../../errors.ts";
import { EXTRACT_PROMPT_VERSION } from "../../memory/analyze/prompt.ts";
import { ASK_PROMPT_VERSION } from "../../memory/ask.ts";
import type { Domain } from "../../memory/domain.ts";
import type { AnswerOf } from "../../wire/routes.ts";
import { isLoopback } from "../../wire/ip_addresses.ts";
import { isForwarded } from "../client_ip.ts";
import type { DependencyHealth, Health } from "../health.ts";
import { type MetricsSources, metricsText } from "../metrics_text.ts";
import { API_VERSION, openApi } from "../openapi.ts";
import { baseUrl, type RequestContext } from "../request_context.ts";
import type { Answer, OpenHandlers } from "../route.ts";
import { answerCompatSui } from "./compat_sui.ts";

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

function versionBody(config: RelayerConfig): AnswerOf<"GET /version"> {
  return {
    relayerVersion: config.version,
    apiVersion: API_VERSION,
    minSupportedSdk: { typescript: "0.0.1", python: "0.1.0", mcp: "0.0.1" },
    featureFlags: featureFlags(config),
    deprecations: [],
    build: config.build,
  };
}

function configBody(
  { config, embedder, sponsor }: Domain,
  context: RequestContext,
): AnswerOf<"GET /config"> {
  const base = baseUrl(config, context.request);
  return {
    packageId: config.packageId ?? "",
    network: config.network,
    suiRpcUrl: config.compatSuiRpcUrl ?? `${base}/compat/sui`,
    rateLimitDisabled: config.rateLimit.disabled,
    ...(config.registryId === undefined ? {} : { registryId: config.registryId }),
    embeddingModel: embedder.model,
    embeddingDimensions: embedder.dimensions,
    nonceRequired: config.requireNonce,
    sponsorEnabled: sponsor !== undefined,
    mcpUrl: `${base}/api/mcp`,
  };
}

/** 200 when a write can be accepted. */
function healthAnswer(
  config: RelayerConfig,
  dependencies: Readonly<Record<string, DependencyHealth>>,
): Answer<"GET /health"> {
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
function checkMetricsAccess(config: RelayerConfig, context: RequestContext): void {
  const forwarded = isForwarded(context.request.headers);
  if (!config.metricsPublic && (forwarded || !isLoopback(context.peer))) {
    throw new SvcError("metrics_forbidden");
  }
}

/** The handlers of what anybody may ask. */
export function publicHandlers(
  sources: MetricsSources & { readonly health: Health },
): OpenHandlers<"public"> {
  const { domain, health } = sources;
  const { config } = domain;
  let described: AnswerOf<"GET /openapi.json"> | undefined;
  return {
    "GET /health": async () => healthAnswer(config, await health.dependencies()),
    "GET /version": () => ({ status: 200, body: versionBody(config) }),
    "GET /config": ({ context }) => ({ status: 200, body: configBody(domain, context) }),
    "GET /openapi.json": () => ({ status: 200, body: described ??= openApi(config.version) }),
    "GET /metrics": async ({ context }) => {
      checkMetricsAccess(config, context);
      const headers = { "content-type": "text/plain; version=0.0.4" };
      return new Response(await metricsText(sources), { headers });
    },
    "POST /compat/sui": async ({ body }) => ({
      status: 200,
      body: answerCompatSui(await body(), config.packageId ?? ""),
    }),
  };
}
