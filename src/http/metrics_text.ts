import type { Domain } from "../memory/domain.ts";
import type { AccountCache } from "./account_cache.ts";
import type { McpProxy } from "./mcp_proxy.ts";
import { gaugeLines, type HttpMetrics } from "./metrics.ts";

export interface MetricsSources {
  readonly metrics: HttpMetrics;
  readonly domain: Domain;
  readonly accounts: AccountCache;
  readonly mcp: McpProxy;
}

/** The answer of GET /metrics. */
export async function metricsText(
  { metrics, domain, accounts, mcp }: MetricsSources,
): Promise<string> {
  // A sidecar that does not answer leaves a gap: nobody knows how many sessions it has.
  const sessions = Object.entries(await mcp.sessions() ?? {});
  const { pending, running } = domain.jobs.counts();
  const oldest = domain.jobs.oldest;
  const age = oldest === undefined ? 0 : Math.max(0, (domain.now() - oldest) / 1000);
  const { hit, miss, stale } = accounts.counts;
  return [
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
    ]),
    ...gaugeLines("svc_job_oldest_seconds", "Age of the oldest unfinished job", "gauge", [
      { labels: {}, value: age },
    ]),
    ...metrics.jobs.lines(),
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
    "",
  ].join("\n");
}
