import { SvcError } from "../../errors.ts";
import type { AccountCache } from "../account_cache.ts";
import type { DependencyHealth, Health } from "../health.ts";
import type { McpProxy } from "../mcp_proxy.ts";
import { gaugeLines, type HttpMetrics } from "../metrics.ts";
import { API_VERSION, openApi } from "../openapi.ts";
import type { OwnAddress } from "../own_address.ts";
import type { RequestContext } from "../request.ts";
import type { AddressLimiter } from "../limits/address_limits.ts";
import type { Layer } from "../limits/rate_limit.ts";
import type { Answer, OpenCall, OpenHandlers } from "../route.ts";
import type { StateStore } from "../../interfaces/mod.ts";
import type { RelayerConfig } from "../../interfaces/config.ts";
import { EXTRACT_PROMPT_VERSION } from "../../memory/analyze/prompt.ts";
import { ASK_PROMPT_VERSION } from "../../memory/ask.ts";
import type { Domain } from "../../memory/domain.ts";
import { limitKey } from "../../wire/ip_addresses.ts";
import { isObjectId } from "../../wire/keys.ts";
import { COMPAT_SUI_OBJECTS } from "../../wire/limits.ts";
import type { AnswerOf } from "../../wire/route_types.ts";

const COMPAT_LAYER: Layer = { name: "compat_ip", limit: 120, seconds: 60 };

type IndexStats = ReturnType<Domain["index"]["stats"]>;

interface MetricsSources {
  readonly metrics: HttpMetrics;
  readonly domain: Domain;
  readonly accounts: AccountCache;
  readonly mcp: McpProxy;
  /** What relayers share; absent where this one shares nothing. */
  readonly store: Pick<StateStore, "connections"> | undefined;
}

/** What is in RAM, and how often something had to be loaded for it. */
function indexLines({ scopes, memories, bytes, loads, loadSeconds }: IndexStats): string[] {
  const line = (name: string, help: string, type: "gauge" | "counter", value: number) =>
    gaugeLines(`svc_index_${name}`, help, type, [{ labels: {}, value }]);
  return [
    ...line("namespaces", "Namespaces in memory", "gauge", scopes),
    ...line("memories", "Memories in memory", "gauge", memories),
    ...line("bytes", "Memory that they take, by an estimate", "gauge", bytes),
    ...line("loads_total", "Namespaces that were loaded", "counter", loads),
    ...line("load_seconds_total", "Time that loading took", "counter", loadSeconds),
  ];
}

/** What a relayer has of what several share: without values where it shares nothing. */
function sharedLines({ domain: { owners }, store }: MetricsSources): string[] {
  const state = owners.state?.();
  const connections = Object.entries(store?.connections?.() ?? {});
  const line = (name: string, help: string, value: number | undefined) =>
    gaugeLines(name, help, "gauge", value === undefined ? [] : [{ labels: {}, value }]);
  return [
    ...line("svc_owners", "Owners that this relayer works for", state?.count),
    ...line("svc_lease_age_seconds", "Time since the leases were renewed", state?.leaseAge),
    ...gaugeLines(
      "svc_store_connections",
      "Connections to the shared store, and calls that wait for one",
      "gauge",
      connections.map(([state, value]) => ({ labels: { state }, value })),
    ),
  ];
}

/** The answer of GET /metrics. */
async function metricsText(sources: MetricsSources): Promise<string> {
  const { metrics, domain, accounts, mcp } = sources;
  // A sidecar that does not answer leaves a gap: nobody knows how many sessions it has.
  const sessions = Object.entries(await mcp.sessions() ?? {});
  const { pending, running, locked } = domain.jobs.counts();
  const oldest = domain.jobs.oldest;
  const age = oldest === undefined ? 0 : Math.max(0, (domain.now() - oldest) / 1000);
  const { hit, miss, stale } = accounts.counts;
  return [
    ...gaugeLines("svc_build_info", "Version of the program", "gauge", [
      { labels: { version: domain.config.version }, value: 1 },
    ]),
    ...gaugeLines("process_start_time_seconds", "When the process started", "gauge", [
      { labels: {}, value: performance.timeOrigin / 1000 },
    ]),
    ...gaugeLines("process_resident_memory_bytes", "Memory of the process", "gauge", [
      { labels: {}, value: Deno.memoryUsage().rss },
    ]),
    ...metrics.requests.lines(),
    ...metrics.durations.lines(),
    ...gaugeLines("svc_http_requests_in_flight", "Requests being answered", "gauge", [
      { labels: {}, value: metrics.inFlight },
    ]),
    ...metrics.errors.lines(),
    ...metrics.denials.lines(),
    ...metrics.sidecarFailures.lines(),
    ...gaugeLines("svc_jobs", "Unfinished jobs by state", "gauge", [
      { labels: { state: "pending" }, value: pending },
      { labels: { state: "running" }, value: running },
      { labels: { state: "locked" }, value: locked },
    ]),
    ...gaugeLines(
      "svc_job_oldest_seconds",
      "Age of the oldest unfinished job that is not locked",
      "gauge",
      [
        { labels: {}, value: age },
      ],
    ),
    ...metrics.jobs.lines(),
    ...metrics.calls.lines(),
    ...metrics.callFailures.lines(),
    ...gaugeLines("svc_account_cache_total", "Account look-ups", "counter", [
      { labels: { result: "hit" }, value: hit },
      { labels: { result: "miss" }, value: miss },
      { labels: { result: "stale" }, value: stale },
    ]),
    ...gaugeLines(
      "svc_mcp_sessions",
      "Open MCP sessions by transport",
      "gauge",
      sessions.map(([transport, value]) => ({ labels: { transport }, value })),
    ),
    ...indexLines(domain.index.stats()),
    ...sharedLines(sources),
    "",
  ].join("\n");
}

/** The package as published clients of the older naming read it (docs/protocol.md#17.3). */
function read(id: unknown, packageId: string) {
  const text = typeof id === "string" ? id : "";
  return isObjectId(text) && text.toLowerCase() === packageId
    ? {
      data: {
        objectId: packageId,
        version: "1",
        digest: "11111111111111111111111111111111",
        type: "package",
        owner: "Immutable",
        content: { dataType: "package", disassembled: {} },
      },
    }
    : { error: { code: "notExists" as const, object_id: text } };
}

/** Answers one JSON-RPC call; it reads no chain. */
function answerCompatSui(body: unknown, packageId: string): AnswerOf<"POST /compat/sui"> {
  const call: { id?: unknown; method?: unknown; params?: unknown } = Object(body);
  const id = typeof call.id === "string" || typeof call.id === "number" ? call.id : null;
  const params: readonly unknown[] = Array.isArray(call.params) ? call.params : [];
  const [first] = params;
  if (call.method === "sui_getObject") {
    return { jsonrpc: "2.0", id, result: read(first, packageId) };
  }
  if (call.method === "sui_multiGetObjects" && Array.isArray(first)) {
    if (first.length > COMPAT_SUI_OBJECTS) {
      const message = `At most ${COMPAT_SUI_OBJECTS} objects at once`;
      return { jsonrpc: "2.0", id, error: { code: -32602, message } };
    }
    return { jsonrpc: "2.0", id, result: first.map((item) => read(item, packageId)) };
  }
  return { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } };
}

/** Feature flags: only what is built. */
function featureFlags(config: RelayerConfig, isHostBound: boolean): Record<string, boolean> {
  return {
    "auth.accountBoundNonce": true,
    "auth.hostBound": isHostBound || config.requireHostBound,
    "auth.hostBoundRequired": config.requireHostBound,
    "auth.sealSessionHeader": true,
    "auth.sessionToken": true,
    "auth.legacySignature": !config.requireNonce && !config.requireHostBound,
    "config.publicDeploymentMetadata": true,
    "remember.asyncJobs": true,
    "remember.bulk": true,
    "remember.idempotencyKey": true,
    "recall.readYourWrites": true,
    "recall.hybrid": true,
    "memories.manage": true,
    "memories.replace": true,
    "memories.export": true,
    "runtime.versionEndpoint": true,
  };
}

function versionBody(config: RelayerConfig, isHostBound: boolean): AnswerOf<"GET /version"> {
  return {
    relayerVersion: config.version,
    apiVersion: API_VERSION,
    minSupportedSdk: { typescript: "0.0.1", python: "0.1.0", mcp: "0.0.1" },
    featureFlags: featureFlags(config, isHostBound),
    deprecations: [],
    build: config.build,
  };
}

function configBody(
  { config, embedder, sponsor }: Domain,
  { base }: OwnAddress,
): AnswerOf<"GET /config"> {
  return {
    packageId: config.packageId ?? "",
    network: config.network,
    suiRpcUrl: config.compatSuiRpcUrl ?? `${base}/compat/sui`,
    rateLimitDisabled: config.rateLimit.disabled,
    registryId: config.registryId,
    embeddingModel: embedder.model,
    embeddingDimensions: embedder.dimensions,
    nonceRequired: config.requireNonce || config.requireHostBound,
    sponsorEnabled: sponsor !== undefined,
    mcpUrl: `${base}/api/mcp`,
  };
}

/** 200 when a write can be accepted, and the relayer is not about to stop. */
function healthAnswer(
  version: AnswerOf<"GET /version">,
  dependencies: Readonly<Record<string, DependencyHealth>>,
  isLeaving: boolean,
): Answer<"GET /health"> {
  const writable = !isLeaving && dependencies.database?.status !== "down" &&
    dependencies.queue?.status !== "down";
  const troubled = Object.values(dependencies).some(({ status }) =>
    status === "down" || status === "degraded"
  );
  return {
    status: writable ? 200 : 503,
    body: {
      status: !writable ? "unavailable" : troubled ? "degraded" : "ok",
      version: version.relayerVersion,
      mode: "production",
      prompt_versions: { extract: EXTRACT_PROMPT_VERSION, ask: ASK_PROMPT_VERSION },
      dependencies,
      ...version,
    },
  };
}

/**
 * Lets /metrics through for programs of this machine only, unless everybody may read it.
 *
 * @throws {SvcError} `host_not_allowed`, `metrics_forbidden`.
 */
function checkMetricsAccess(
  { metricsPublic }: RelayerConfig,
  address: OwnAddress,
  context: RequestContext,
): void {
  if (metricsPublic) return;
  address.checkHost(context.request);
  if (!address.isLocal(context)) throw new SvcError("metrics_forbidden");
}

/** The handlers of what anybody may ask. */
export function publicHandlers(
  sources: MetricsSources & {
    readonly health: Health;
    readonly address: OwnAddress;
    readonly leaving: () => boolean;
    readonly newLimiter: () => AddressLimiter;
  },
): OpenHandlers<"public"> {
  const { domain, health, address, leaving, newLimiter } = sources;
  const { config } = domain;
  // A client is told to name the relayer only if that is a name the relayer knows.
  const version = ({ context }: OpenCall) => versionBody(config, address.isNamedBy(context));
  const limiter = newLimiter();
  let described: AnswerOf<"GET /openapi.json"> | undefined;
  return {
    "GET /health": async (call) =>
      healthAnswer(version(call), await health.dependencies(), leaving()),
    "GET /.well-known/svc-receipt-key": () => ({
      status: 200,
      body: { algorithm: "Ed25519", public_key: domain.receipts.publicKey },
    }),
    "GET /version": (call) => ({ status: 200, body: version(call) }),
    "GET /config": () => ({ status: 200, body: configBody(domain, address) }),
    "GET /openapi.json": () => ({ status: 200, body: described ??= openApi(config.version) }),
    "GET /metrics": async ({ context }) => {
      checkMetricsAccess(config, address, context);
      const headers = { "content-type": "text/plain; version=0.0.4" };
      return new Response(await metricsText(sources), { headers });
    },
    "POST /compat/sui": async ({ body, context }) => {
      await limiter.spend([{ layer: COMPAT_LAYER, key: limitKey(context.clientIp) }], 1);
      return { status: 200, body: answerCompatSui(await body(), config.packageId ?? "") };
    },
  };
}
