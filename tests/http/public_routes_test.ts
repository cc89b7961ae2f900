import assert from "node:assert/strict";
import { isUuid } from "../../src/wire/keys.ts";
import { startRelayer, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";

const VERSION = /^\d+\.\d+\.\d+$/;
const FLAGS = {
  "auth.accountBoundNonce": true,
  "auth.hostBound": true,
  "auth.hostBoundRequired": false,
  "auth.sealSessionHeader": true,
  "auth.sessionToken": true,
  "auth.legacySignature": true,
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

Deno.test("GET /version", async () => {
  verifies("4-2", "9-8", "9-9", "9-16", "9-17", "15-19", "17.3-1", "17.3-2", "17.4-1", "18-1");
  await using svc = await startRelayer({ config: { version: "1.2.3" } });
  const { status, body } = await svc.plain("GET", "/version");
  assert.equal(status, 200);
  assert.deepEqual(body, {
    relayerVersion: "1.2.3",
    apiVersion: "1.0.0",
    minSupportedSdk: { typescript: "0.0.1", python: "0.1.0", mcp: "0.0.1" },
    featureFlags: FLAGS,
    deprecations: [],
    build: {},
  });
  await using strict = await startRelayer({
    config: { requireNonce: true, build: { commit: "abc", buildTimestamp: "2026-01-01" } },
  });
  const { body: other } = await strict.plain("GET", "/version");
  assert.deepEqual(other.featureFlags, { ...FLAGS, "auth.legacySignature": false });
  assert.deepEqual(other.build, { commit: "abc", buildTimestamp: "2026-01-01" });
  assert.match(other.relayerVersion, VERSION);
});

Deno.test("flags report what is built", async () => {
  verifies("9-16");
  await using svc = await startRelayer();
  const { body: { featureFlags } } = await svc.plain("GET", "/version");
  assert.equal(featureFlags["memories.export"], true);
  assert.equal((await svc.post("/api/export", {})).status, 200);
});

Deno.test("GET /config", async () => {
  verifies("9-10", "9-11", "9-12", "15-7", "15-22", "17.3-4", "17.4-1");
  await using svc = await startRelayer();
  svc.relayer.listensAt("http://192.0.2.1:8000");
  const headers = { host: "6.6.6.6:8000" };
  const { status, body } = await svc.plain("GET", "/config", undefined, { headers });
  assert.equal(status, 200);
  assert.match(body.packageId, /^0x[0-9a-f]{64}$/);
  assert.deepEqual(body, {
    packageId: body.packageId,
    network: "localnet",
    suiRpcUrl: "http://192.0.2.1:8000/compat/sui",
    rateLimitDisabled: true,
    embeddingModel: svc.backends.embedder.model,
    embeddingDimensions: svc.backends.embedder.dimensions,
    nonceRequired: false,
    sponsorEnabled: false,
    mcpUrl: "http://192.0.2.1:8000/api/mcp",
  });
  const packageId = `0x${"1".repeat(64)}`;
  const registryId = `0x${"2".repeat(64)}`;
  await using other = await startRelayer({
    config: {
      packageId,
      registryId,
      network: "testnet",
      publicUrl: "https://memory.example.com",
      requireNonce: true,
    },
  });
  const { body: second } = await other.plain("GET", "/config");
  assert.equal(second.packageId, packageId);
  assert.equal(second.registryId, registryId);
  assert.equal(second.network, "testnet");
  assert.equal(second.nonceRequired, true);
  assert.equal(second.suiRpcUrl, "https://memory.example.com/compat/sui");
  assert.equal(second.mcpUrl, "https://memory.example.com/api/mcp");
  await using third = await startRelayer({
    config: { compatSuiRpcUrl: "https://rpc.example.com/" },
  });
  const { body: last } = await third.plain("GET", "/config");
  assert.equal(last.suiRpcUrl, "https://rpc.example.com/");
});

Deno.test("an embedded relayer keeps its package id", async () => {
  verifies("9-11");
  const dataDir = await Deno.makeTempDir();
  const relayerKey = new Uint8Array(32).fill(7);
  const first = await startRelayer({ dataDir, relayerKey });
  const packageId = async (svc: TestRelayer) => (await svc.plain("GET", "/config")).body.packageId;
  const before = await packageId(first);
  await first.relayer[Symbol.asyncDispose]();
  {
    const { backends } = first;
    await using second = await startRelayer({ dataDir, relayerKey, backends, existing: first });
    assert.equal(await packageId(second), before);
  }
  await Deno.remove(dataDir, { recursive: true });
});

Deno.test("GET /api/account", async () => {
  verifies("10.10-7", "10.10-8", "2-3", "2-14");
  await using svc = await startRelayer();
  const { body } = await svc.get("/api/account");
  const { package_id } = body;
  const { created_at } = body.key;
  assert.equal(package_id, (await svc.plain("GET", "/config")).body.packageId);
  assert.deepEqual(body, {
    owner: svc.owner,
    account_id: svc.account.accountId,
    package_id,
    active: true,
    key: {
      public_key: svc.key.publicKey,
      address: svc.key.address,
      label: "test",
      permissions: ["read", "write"],
      created_at,
    },
    quota: { used_bytes: 0, limit_bytes: null },
  });
  assert.equal(new Date(created_at).toISOString(), created_at);
  await using small = await startRelayer({ config: { quotaBytes: 1000 } });
  assert.equal((await small.get("/api/account")).body.quota.limit_bytes, 1000);
});

Deno.test("nothing is sponsored", async () => {
  verifies("9.1-1", "4-2");
  await using svc = await startRelayer();
  for (const path of ["/sponsor", "/sponsor/execute"]) {
    assertError(await svc.plain("POST", path, {}), [503, "sponsor_disabled"]);
  }
});

Deno.test("a relayer that shuts down refuses with a date to come back", async () => {
  verifies("5-19", "5-4");
  await using svc = await startRelayer();
  await svc.relayer.drain(0);
  for (const answer of [await svc.plain("GET", "/health"), await svc.post("/api/stats", {})]) {
    assertError(answer, [503, "shutting_down"]);
    assert.equal(answer.headers.get("retry-after"), "1");
    assert.ok(isUuid(answer.headers.get("x-request-id") ?? ""));
  }
});

Deno.test("a relayer that leaves tells balancers, and answers everybody else", async () => {
  verifies("9-24", "15-52");
  await using svc = await startRelayer();
  svc.relayer.leave();
  const health = await svc.plain("GET", "/health");
  assert.equal(health.status, 503);
  assert.equal(health.body.status, "unavailable");
  assert.equal((await svc.plain("GET", "/version")).status, 200);
  const saved = await svc.post("/api/remember", { text: "tea" });
  assert.equal(saved.status, 202);
  assert.equal((await svc.post("/api/recall", { query: "tea" })).body.results.length, 1);
});

Deno.test("405 names the methods that are allowed, and nothing else", async () => {
  verifies("3-9", "3-10");
  await using svc = await startRelayer();
  const id = crypto.randomUUID();
  const cases = [
    ["PATCH", "/api/recall", "POST"],
    ["POST", "/health", "GET"],
    ["POST", `/api/memories/${id}`, "DELETE, GET, PUT"],
    ["GET", "/api/remember/bulk", "POST"],
    ["GET", "/api/remember/manual", "POST"],
    ["PUT", `/api/remember/${id}`, "GET"],
    ["GET", `/api/remember/${id}/retry`, "POST"],
  ] as const;
  for (const [method, target, allow] of cases) {
    const answer = await svc.plain(method, target);
    assertError(answer, [405, "method_not_allowed"], {}, target);
    const allowed = answer.headers.get("allow")?.split(", ").sort().join(", ");
    assert.equal(allowed, allow, target);
  }
});
