import assert from "node:assert/strict";
import { memoryAccounts } from "../../plugins/memory/accounts.ts";
import type {
  AccountRegistry,
  BackendHealth,
  Embedder,
  LanguageModel,
} from "../../src/interfaces/mod.ts";
import { FakeSidecar, TOKEN } from "./fake_sidecar.ts";
import { intercepted } from "../memory/intercepted.ts";
import { startRelayer, testBackends, TestClock, TestKey } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";

const NAMES = [
  "blob_store",
  "chain",
  "database",
  "embedder",
  "key_service",
  "llm",
  "queue",
  "sidecar",
  "sponsor",
];

const fails = () => Promise.reject(new Error("connection refused: 10.1.2.3:5432"));

Deno.test("a relayer in order is ok; what is not configured does not count", async () => {
  verifies("9-1", "9-2", "9-3", "9-4", "9-5", "9-7", "17.3-3", "17.4-1");
  await using svc = await startRelayer();
  const { status, body } = await svc.plain("GET", "/health");
  assert.equal(status, 200);
  const { status: state, version, mode, prompt_versions, dependencies, ...rest } = body;
  assert.equal(state, "ok");
  assert.equal(mode, "production");
  assert.equal(version, rest.relayerVersion);
  assert.deepEqual(Object.keys(prompt_versions), ["extract", "ask"]);
  assert.deepEqual(rest, (await svc.plain("GET", "/version")).body);
  assert.deepEqual(Object.keys(dependencies).sort(), NAMES);
  assert.deepEqual(dependencies.queue, { status: "ok", pending: 0, oldest_seconds: 0 });
  const disabled = NAMES.filter((name) => dependencies[name].status === "disabled");
  assert.deepEqual(disabled, ["chain", "key_service", "llm", "sidecar", "sponsor"]);
});

Deno.test("a relayer that cannot embed or reach its blobs still accepts writes", async () => {
  verifies("9-1", "9-6", "3-27");
  const clock = new TestClock();
  const backends = await testBackends(clock);
  await using svc = await startRelayer({
    clock,
    backends: {
      ...backends,
      embedder: { ...backends.embedder, embed: fails },
      blobStore: intercepted(backends.blobStore, { get: fails }),
    },
    // Nothing answers there.
    sidecar: { url: "http://127.0.0.1:9", token: TOKEN },
  });
  const { status, body, text } = await svc.plain("GET", "/health");
  assert.equal(status, 200);
  assert.equal(body.status, "degraded");
  const down = NAMES.filter((name) => body.dependencies[name].status === "down");
  assert.deepEqual(down, ["blob_store", "embedder", "sidecar"]);
  assert.ok(!text.includes("10.1.2.3"));
});

Deno.test("a sidecar that answers is ok", async () => {
  verifies("9-4");
  await using sidecar = new FakeSidecar(() => new Response());
  await using svc = await startRelayer({ sidecar });
  const { body } = await svc.plain("GET", "/health");
  assert.equal(body.status, "ok");
  assert.equal(body.dependencies.sidecar.status, "ok");
});

Deno.test("a relayer that cannot accept a write says so", async () => {
  verifies("9-1");
  await using full = await startRelayer({ config: { maxPendingJobs: 0 } });
  const answer = await full.plain("GET", "/health");
  assert.equal(answer.status, 503);
  assert.equal(answer.body.status, "unavailable");
  assert.equal(answer.body.dependencies.queue.status, "down");

  const clock = new TestClock();
  const backends = await testBackends(clock);
  const vectorStore = intercepted(backends.vectorStore, { scopes: fails });
  await using svc = await startRelayer({ clock, backends: { ...backends, vectorStore } });
  const down = await svc.plain("GET", "/health");
  assert.equal(down.status, 503);
  assert.equal(down.body.dependencies.database.status, "down");
});

Deno.test("waiting jobs are counted, and aged", async () => {
  verifies("9-5");
  const clock = new TestClock();
  clock.freeze();
  const backends = await testBackends(clock);
  const gate = Promise.withResolvers<void>();
  const embedder = {
    ...backends.embedder,
    embed: async (...args: Parameters<typeof backends.embedder.embed>) => {
      if (args[1].purpose === "document") await gate.promise;
      return await backends.embedder.embed(...args);
    },
  };
  await using svc = await startRelayer({ clock, backends: { ...backends, embedder } });
  await svc.post("/api/remember", { text: "tea" });
  await svc.post("/api/remember", { text: "coffee" });
  clock.advance(7_000);
  const { queue } = (await svc.plain("GET", "/health")).body.dependencies;
  assert.deepEqual(queue, { status: "ok", pending: 2, oldest_seconds: 7 });
  gate.resolve();
  await svc.relayer.idle();
});

Deno.test("what a backend knows of its server is told, and asked again only when it fails", async () => {
  verifies("9-4", "9-6");
  const clock = new TestClock();
  const backends = await testBackends(clock);
  let known: BackendHealth = { status: "ok" };
  let calls = 0;
  const embedder: Embedder = {
    ...backends.embedder,
    health: () => known,
    embed(...args) {
      calls++;
      return backends.embedder.embed(...args);
    },
  };
  const languageModel: LanguageModel = {
    model: "m",
    chat: () => Promise.resolve(""),
    health: () => ({ status: "down", reason: "The model server cannot be reached" }),
    async [Symbol.asyncDispose]() {},
  };
  await using svc = await startRelayer({
    clock,
    backends: { ...backends, embedder, languageModel },
  });
  const states = async () => {
    clock.advance(2_000);
    const { status, body } = await svc.plain("GET", "/health");
    assert.equal(status, 200);
    return [body.status, body.dependencies.embedder, body.dependencies.llm];
  };
  const llm = { status: "down", reason: "The model server cannot be reached" };
  assert.deepEqual(await states(), ["degraded", { status: "ok" }, llm]);
  assert.equal(calls, 0);
  known = { status: "degraded", reason: "The model server asks for a pause" };
  assert.deepEqual(await states(), ["degraded", known, llm]);
  assert.equal(calls, 1);
});

Deno.test("a registry tells how its chain does, and is asked again only when it fails", async () => {
  verifies("9-4", "9-6");
  const clock = new TestClock();
  const { admin: _, ...accounts } = memoryAccounts(clock.now);
  let known: BackendHealth = { status: "ok" };
  let calls = 0;
  const registry: AccountRegistry = {
    ...accounts,
    get(accountId, options) {
      calls++;
      known = { status: "ok" };
      return accounts.get(accountId, options);
    },
    health: () => known,
  };
  const account = { accountId: "", owner: "", active: true, keys: [] };
  const existing = { key: new TestKey(), account };
  await using svc = await startRelayer({ clock, backends: { accounts: registry }, existing });
  const chain = async () => {
    clock.advance(2_000);
    return (await svc.plain("GET", "/health")).body.dependencies.chain;
  };
  assert.deepEqual(await chain(), { status: "ok" });
  assert.equal(calls, 0);
  known = { status: "down", reason: "The chain's node cannot be reached" };
  assert.deepEqual(await chain(), { status: "ok" }, "recovers by the question");
  assert.equal(calls, 1);
});
