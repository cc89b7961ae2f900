import assert from "node:assert/strict";
import { memoryEmbedder } from "../../plugins/memory/embedder.ts";
import { SvcError } from "../../src/errors.ts";
import type { Embedder } from "../../src/interfaces/mod.ts";
import { startRelayer, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";

const NAMES = [
  "svc_http_requests_total",
  "svc_http_request_duration_seconds",
  "svc_http_requests_in_flight",
  "svc_errors_total",
  "svc_rate_limit_denials_total",
  "svc_sidecar_failures_total",
  "svc_jobs",
  "svc_job_oldest_seconds",
  "svc_job_duration_seconds",
  "svc_account_cache_total",
  "svc_mcp_sessions",
  "svc_index_namespaces",
  "svc_index_memories",
  "svc_index_bytes",
  "svc_index_loads_total",
  "svc_index_load_seconds_total",
  "svc_owners",
  "svc_lease_age_seconds",
  "svc_store_connections",
  "svc_external_request_duration_seconds",
  "svc_external_request_failures_total",
  "svc_build_info",
  "process_start_time_seconds",
  "process_resident_memory_bytes",
];
const SAMPLE = /^[a-z_]+(\{([a-z_]+="[^"\\\n]*",?)+\})? [0-9.e+-]+$/;

async function metrics(svc: TestRelayer): Promise<string[]> {
  const { status, headers, text } = await svc.plain("GET", "/metrics");
  assert.equal(status, 200);
  assert.equal(headers.get("content-type"), "text/plain; version=0.0.4");
  return text.trimEnd().split("\n");
}

function value(lines: readonly string[], sample: string): number {
  return Number(lines.find((line) => line.startsWith(sample + " "))?.split(" ")[1]);
}

Deno.test("metrics are Prometheus text, each named and typed once", async () => {
  verifies("9-14", "9-18", "9-23");
  await using svc = await startRelayer({ config: { accountLookupsPerMinute: 2 } });
  const id = await svc.remember("tea");
  await svc.get(`/api/remember/${id}`);
  await svc.post("/api/recall", "{");
  await svc.post("/api/stats", {}, { key: await svc.addKey() });
  await svc.post("/api/stats", {}, { key: await svc.addKey() });
  const lines = await metrics(svc);
  const typed = lines.filter((line) => line.startsWith("# TYPE ")).map((line) =>
    line.split(" ")[2]
  );
  assert.deepEqual(typed.toSorted(), NAMES.toSorted());
  for (const line of lines) if (!line.startsWith("#")) assert.match(line, SAMPLE);
  assert.equal(
    value(lines, 'svc_http_requests_total{route="/api/remember",method="POST",status="202"}'),
    1,
  );
  assert.equal(
    value(lines, 'svc_http_requests_total{route="/api/remember/:id",method="GET",status="200"}'),
    1,
  );
  assert.equal(value(lines, 'svc_errors_total{code="malformed_json"}'), 1);
  assert.equal(value(lines, 'svc_rate_limit_denials_total{layer="account_lookup_ip"}'), 1);
  assert.equal(value(lines, "svc_http_requests_in_flight"), 1);
  assert.equal(value(lines, 'svc_jobs{state="pending"}'), 0);
  assert.equal(value(lines, 'svc_account_cache_total{result="miss"}'), 2);
  assert.equal(value(lines, 'svc_account_cache_total{result="hit"}'), 2);
});

Deno.test("calls of backends are counted by dependency and operation, failures by code", async () => {
  verifies("9-20");
  const embedder = memoryEmbedder();
  let fails = true;
  await using svc = await startRelayer({
    backends: {
      // A backend of somebody else, which nothing may be added to.
      embedder: Object.freeze({
        ...embedder,
        embed: (...given: Parameters<Embedder["embed"]>) =>
          fails ? Promise.reject(new SvcError("embedding_unavailable")) : embedder.embed(...given),
      }),
    },
  });
  assertError(await svc.post("/api/recall", { query: "coffee" }), [503, "embedding_unavailable"]);
  fails = false;
  await svc.remember("tea");
  await svc.relayer.idle();
  await svc.post("/api/recall", { query: "coffee" });
  const lines = await metrics(svc);
  const count = (dependency: string, operation: string) =>
    value(
      lines,
      `svc_external_request_duration_seconds_count{dependency="${dependency}",operation="${operation}"}`,
    );
  for (
    const [dependency, operation, calls] of [
      ["embedder", "embed", 3],
      ["cipher", "seal", 1],
      ["vector_store", "upsert", 1],
      ["vector_store", "link", 1],
      ["blob_store", "put", 1],
      ["accounts", "resolve", 1],
    ] as const
  ) assert.equal(count(dependency, operation), calls, `${dependency} ${operation}`);
  assert.deepEqual(lines.filter((line) => line.startsWith("svc_external_request_failures_total")), [
    'svc_external_request_failures_total{dependency="embedder",operation="embed",code="embedding_unavailable"} 1',
  ]);
});

Deno.test("labels hold nothing that callers choose", async () => {
  verifies("9-19");
  await using svc = await startRelayer();
  const id = await svc.remember("a private text", { namespace: "secret-space" });
  await svc.get(`/api/memories/${id}`);
  await svc.get("/api/memories?namespace=secret-space");
  await svc.plain("GET", "/made-up-path", undefined, { headers: { "x-request-id": "made-up-id" } });
  await svc.plain("MADEUP", "/health");
  const text = (await metrics(svc)).join("\n");
  const { publicKey } = svc.key;
  for (
    const secret of [
      publicKey,
      svc.owner,
      svc.account.accountId,
      id,
      "secret-space",
      "private",
      "made-up",
      "MADEUP",
    ]
  ) assert.ok(!text.includes(secret), secret);
  assert.ok(text.includes('method="other"'));
});

Deno.test("metrics are for this machine only, and not through a proxy", async () => {
  verifies("9-14", "9-15");
  await using svc = await startRelayer();
  const ask = (peer: string, headers: Record<string, string> = {}) =>
    svc.plain("GET", "/metrics", undefined, { peer, headers });
  for (const peer of ["127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1"]) {
    assert.equal((await ask(peer)).status, 200, peer);
  }
  for (const peer of ["192.0.2.1", "10.0.0.1", "2001:db8::1"]) {
    assertError(await ask(peer), [403, "metrics_forbidden"], {}, peer);
  }
  const forwarding = [
    "forwarded",
    "via",
    "x-forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-original-forwarded-for",
    "x-real-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "true-client-ip",
    "cf-connecting-ip",
    "cf-connecting-ipv6",
    "fastly-client-ip",
    "fly-client-ip",
    "x-azure-clientip",
    "x-envoy-external-address",
    "cdn-loop",
  ];
  for (const name of forwarding) {
    assertError(
      await ask("127.0.0.1", { [name]: "127.0.0.1" }),
      [403, "metrics_forbidden"],
      {},
      name,
    );
  }
  const own = { "user-agent": "a", "x-scrape-timeout-seconds": "10", "x-request-id": "tulip" };
  assert.equal((await ask("127.0.0.1", own)).status, 200);
  await using open = await startRelayer({ config: { metricsPublic: true } });
  const stranger = { peer: "192.0.2.1", headers: { host: "svc.internal" } };
  assert.equal((await open.plain("GET", "/metrics", undefined, stranger)).status, 200);
});

Deno.test("a page that rebinds its name to this machine reads no metrics", async () => {
  verifies("9-14", "3-41");
  await using svc = await startRelayer({ config: { allowedHosts: ["svc.internal"] } });
  svc.relayer.listensAt("http://127.0.0.1:8000");
  const ask = (host: string) => svc.plain("GET", "/metrics", undefined, { headers: { host } });
  for (const host of ["evil.example", "evil.example:8000", "6.6.6.6:8000", "localhost:8001"]) {
    assertError(await ask(host), [403, "host_not_allowed"], {}, host);
  }
  assert.equal((await ask("localhost:8000")).status, 200);
  // A name that others may use is none that this machine alone does.
  assertError(await ask("svc.internal"), [403, "metrics_forbidden"]);
});
