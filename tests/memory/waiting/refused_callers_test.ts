import assert from "node:assert/strict";
import { memoryEmbedder } from "../../../plugins/memory/embedder.ts";
import { SvcError } from "../../../src/errors.ts";
import type { BlobStore, Cipher, Embedder, VectorStore } from "../../../src/interfaces/mod.ts";
import { DurableRelayer, type Wrap } from "../durable.ts";
import { guarded, SESSION } from "../guarded.ts";
import { Gate, intercepted } from "../intercepted.ts";
import { assertError } from "../../http/case.ts";
import { verifies } from "../../requirements.ts";
import { poll } from "../../within.ts";

const FOREIGN = { "x-delegate-key": "cd".repeat(32) };
const BYTES = new TextEncoder().encode("sealed by the client");
const VECTOR = Array.from({ length: 256 }, (_, i) => i === 0 ? 1 : 0);

/** Whose jobs stop before they embed, and whose cipher may be away. */
async function start(config = {}) {
  const gate = new Gate();
  const cipherState = { isDown: false, opens: 0 };
  const embedder = () =>
    intercepted<Embedder>(memoryEmbedder(), {
      embed: async (next, texts, how) => {
        if (how.purpose === "document") await gate.pass(how.signal);
        return await next(texts, how);
      },
    });
  const cipher = (inner: Cipher) =>
    guarded(inner, {
      open: (next, ...args) => {
        cipherState.opens++;
        if (cipherState.isDown) throw new SvcError("key_service_unavailable");
        return next(...args);
      },
    });
  const relayer = await DurableRelayer.start({ wrap: { cipher }, embedder, config });
  return { relayer, gate, cipherState };
}

/** A relayer on what a power cut left of a manual memory, whose job stopped at a call of a store. */
async function cutManual(wrap: (gate: Gate) => Wrap, body: object): Promise<{
  readonly relayer: DurableRelayer;
  readonly id: string;
}> {
  const gate = new Gate();
  const config = { manualWaitMs: 50 };
  const wraps = { cipher: guarded, ...wrap(gate) };
  const relayer = await DurableRelayer.start({ wrap: wraps, config });
  gate.close();
  const { body: { job_id: id } } = await relayer.svc.post("/api/remember/manual", body);
  await gate.reached;
  await relayer.cutPower();
  gate.open();
  return { relayer, id };
}

Deno.test("an import sent again takes nothing twice, whoever sends it and whatever is away", async () => {
  for (const isDown of [false, true]) {
    const { relayer, gate, cipherState } = await start();
    await using _ = relayer;
    gate.close();
    const line = (n: number) => ({
      type: "memory",
      memory_id: `0b6e9c3a-6f0d-4a1e-9f57-3f5f3c1b2a1${n}`,
      namespace: "default",
      text: `tea ${n}`,
      version: 1,
      created_at: "2026-01-01T10:00:00.000Z",
      updated_at: "2026-01-01T10:00:00.000Z",
    });
    const lines = [0, 1].map((n) => JSON.stringify(line(n))).join("\n");
    const send = (headers: Record<string, string>) =>
      relayer.svc.send("POST", "/api/import", lines, {
        headers: { "content-type": "application/x-ndjson", ...headers },
      });
    assert.equal((await send(SESSION)).body.accepted, 2);
    await gate.reached;
    await relayer.cutPower();
    cipherState.isDown = isDown;
    assertError(
      await send(isDown ? SESSION : FOREIGN),
      isDown ? [503, "key_service_unavailable"] : [400, "decrypt_credential_invalid"],
    );
    cipherState.isDown = false;
    gate.open();
    assert.equal((await send(SESSION)).body.skipped, 2);
    await relayer.svc.relayer.idle();
    const { body } = await relayer.svc.get("/api/memories", { headers: SESSION });
    assert.equal(body.memories.length, 2);
  }
});

Deno.test("who cannot open what waits is told why, at once, and where it matters only", async () => {
  verifies("8-24", "8-25");
  const { relayer, gate, cipherState } = await start();
  await using _ = relayer;
  gate.close();
  const id = (await relayer.svc.post("/api/remember", { text: "tea" })).body.job_id;
  for (let i = 0; i < 3; i++) {
    await relayer.svc.post("/api/remember", { text: "tea", namespace: `n${i}` });
  }
  await gate.reached;
  await relayer.cutPower();
  const recall = (headers: Record<string, string>, namespace = "default") =>
    relayer.svc.post("/api/recall", { query: "tea", namespace }, { headers });
  assertError(await recall(FOREIGN), [400, "decrypt_credential_invalid"]);
  cipherState.isDown = true;
  assertError(await recall(SESSION), [503, "key_service_unavailable"]);
  const put = { text: "coffee" };
  const replaced = await relayer.svc.send("PUT", `/api/memories/${id}`, put, { headers: SESSION });
  assertError(replaced, [503, "key_service_unavailable"]);
  const facts = { text: "I like tea with honey. My sister lives in Zlin." };
  const analyzed = await relayer.svc.post("/api/analyze", facts, { headers: SESSION });
  assertError(analyzed, [503, "key_service_unavailable"]);
  cipherState.opens = 0;
  assert.equal((await recall(SESSION, "elsewhere")).status, 200);
  await relayer.svc.post("/api/stats", { namespace: "n0" }, { headers: SESSION });
  await relayer.svc.post("/api/remember", { text: "milk" }, { headers: SESSION });
  assert.equal(cipherState.opens, 0, "nothing else asks for what waits");
  cipherState.isDown = false;
  gate.open();
  assert.equal((await recall(SESSION)).body.results.length, 2);
});

Deno.test("what waits for its owner takes no room of others, or of the owner", async () => {
  const { relayer, gate } = await start({ maxPendingJobs: 20 });
  await using _ = relayer;
  gate.close();
  for (let i = 0; i < 10; i++) {
    assert.equal((await relayer.svc.post("/api/remember", { text: `tea ${i}` })).status, 202);
  }
  assert.equal((await relayer.svc.post("/api/remember", { text: "tea" })).body.code, "overloaded");
  await relayer.cutPower();
  gate.open();
  assert.equal((await relayer.svc.post("/api/remember", { text: "tea" })).status, 202);
  const { body } = await relayer.svc.plain("GET", "/health");
  assert.equal(body.dependencies.queue.status, "ok");
});

Deno.test("a job that ends the process is put off, whoever unlocks it", async () => {
  const { relayer, gate } = await start();
  await using _ = relayer;
  gate.close();
  const id = (await relayer.svc.post("/api/remember", { text: "poison" })).body.job_id;
  await gate.reached;
  for (let attempts = 2; attempts <= 20; attempts++) {
    await relayer.cutPower();
    gate.close();
    await relayer.svc.get(`/api/remember/${id}`, { headers: SESSION });
    // Its try is on disk then, so that the next cut finds it.
    await gate.reached;
    const { body } = await relayer.svc.get(`/api/remember/${id}`);
    assert.deepEqual([body.status, body.attempts], ["running", attempts]);
  }
  for (let i = 0; i < 4; i++) {
    await relayer.cutPower();
    await relayer.svc.get(`/api/remember/${id}`, { headers: SESSION });
    assert.equal((await relayer.svc.get(`/api/remember/${id}`)).body.attempts, 20);
  }
  gate.open();
});

Deno.test("whoever asks for one job opens what lies under its key", async () => {
  const { relayer, gate, cipherState } = await start();
  await using _ = relayer;
  gate.close();
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) {
    ids.push((await relayer.svc.post("/api/remember", { text: `tea ${i}` })).body.job_id);
  }
  await gate.reached;
  await relayer.cutPower();
  gate.open();
  cipherState.opens = 0;
  const asked = { job_ids: [ids[0]!.toUpperCase()] };
  await relayer.svc.post("/api/remember/bulk/status", asked, { headers: SESSION });
  for (const id of ids) {
    await poll(
      () => relayer.svc.get(`/api/remember/${id}`),
      ({ body }) => body.status === "done",
    );
  }
  assert.equal(cipherState.opens, 1);
});

Deno.test("a key that opens for nobody hides one memory, and refuses nothing else", async () => {
  const { relayer, gate } = await start();
  await using _ = relayer;
  await relayer.svc.remember("tea with milk");
  gate.close();
  const lost = (await relayer.svc.post("/api/remember", { text: "tea with honey" })).body.job_id;
  await gate.reached;
  const cipher = (inner: Cipher) =>
    guarded(inner, {
      open: async (next, items, context) => {
        const results = await next(items, context);
        // Keys of what waits are for ids of their own.
        const reason = new SvcError("storage_unavailable", undefined, { retryable: false });
        return items[0]!.wrappedKey === undefined ? results : [{ status: "rejected", reason }];
      },
    });
  await relayer.cutPower({ wrap: { cipher } });
  gate.open();
  const { body } = await relayer.svc.post("/api/recall", { query: "tea" }, { headers: SESSION });
  assert.deepEqual([body.results.length, body.pending], [1, 1]);
  assert.equal((await relayer.svc.send("DELETE", `/api/memories/${lost}`)).status, 200);
  const after = await relayer.svc.post("/api/recall", { query: "tea" }, { headers: SESSION });
  assert.equal(after.body.pending ?? 0, 0);
});

Deno.test("a stop takes its grace once, whatever does not end", async () => {
  const { relayer, gate } = await start();
  await using _ = relayer;
  gate.close();
  await relayer.svc.post("/api/remember", { text: "tea" });
  await gate.reached;
  const began = performance.now();
  await relayer.svc.relayer.drain(1_000);
  const took = performance.now() - began;
  assert.ok(took > 900 && took < 1_800, `${took} ms`);
  gate.open();
});

Deno.test("an orderly stop leaves nothing to wait for its owner that it can end", async () => {
  const { relayer, gate } = await start();
  await using _ = relayer;
  gate.close();
  const ids: string[] = [];
  for (let i = 0; i < 30; i++) {
    ids.push((await relayer.svc.post("/api/remember", { text: `tea ${i}` })).body.job_id);
  }
  await gate.reached;
  const stopping = relayer.svc.relayer.drain(5_000);
  gate.open();
  await stopping;
  await relayer.restart();
  for (const id of ids) {
    assert.equal((await relayer.svc.get(`/api/remember/${id}`)).body.status, "done");
  }
});

Deno.test("a client's own ciphertext goes on without a credential; its metadata wait", async () => {
  const bare = { encrypted_data: BYTES.toBase64(), vector: VECTOR };
  const stops = (gate: Gate): Wrap => ({
    vectorStore: (store: VectorStore) =>
      intercepted(store, {
        upsert: async (next, entries, options) => {
          await gate.pass(options?.signal);
          await next(entries, options);
        },
      }),
  });
  {
    const { relayer, id } = await cutManual(stops, bare);
    await using _ = relayer;
    await relayer.svc.relayer.idle();
    const { body } = await relayer.svc.post("/api/recall/manual", { vector: VECTOR });
    assert.equal(body.results[0].memory_id, id);
  }
  const { relayer, id } = await cutManual(stops, { ...bare, metadata: { about: "tea" } });
  await using _ = relayer;
  assert.equal((await relayer.svc.get(`/api/remember/${id}`)).body.waits_for, "credential");
  await poll(
    () => relayer.svc.get(`/api/remember/${id}`, { headers: SESSION }),
    ({ body }) => body.status === "done",
  );
  const { body } = await relayer.svc.get(`/api/memories/${id}`, { headers: SESSION });
  assert.deepEqual(body.metadata, { about: "tea" });
});

Deno.test("deleting what waits for its owner leaves no blob and tells no lie", async () => {
  const metadata = { about: "tea" };
  // A blob that the client stored.
  {
    const gate = new Gate();
    const wrap: Wrap = {
      cipher: guarded,
      vectorStore: (store) =>
        intercepted(store, {
          link: async (next, ...args) => {
            await gate.pass();
            await next(...args);
          },
        }),
    };
    const relayer = await DurableRelayer.start({ wrap, config: { manualWaitMs: 50 } });
    await using _ = relayer;
    const scope = { owner: relayer.svc.owner, namespace: "default" };
    const stored = await relayer.svc.backends.blobStore.put(BYTES, {
      ...scope,
      idempotencyKey: crypto.randomUUID(),
      standalone: true,
    });
    gate.close();
    const given = { blob_id: stored, vector: VECTOR, metadata };
    const id = (await relayer.svc.post("/api/remember/manual", given)).body.job_id;
    await gate.reached;
    await relayer.cutPower();
    assert.equal((await relayer.svc.get(`/api/remember/${id}`)).body.waits_for, "credential");
    const { body } = await relayer.svc.send("DELETE", `/api/memories/${id}`);
    assert.equal(body.blob, "deleted");
    assert.deepEqual(await Array.fromAsync(relayer.svc.backends.blobStore.list(scope)), []);
    gate.open();
  }
  // A store that deletes, but keeps versions.
  const { relayer, id } = await cutManual((gate) => ({
    blobStore: (store: BlobStore) =>
      new Proxy(
        intercepted(store, {
          put: async (next, bytes, how) => {
            const blobId = await next(bytes, how);
            await gate.pass(how.signal);
            return blobId;
          },
        }),
        { get: (target, name) => name === "erases" ? false : Reflect.get(target, name) },
      ),
  }), { encrypted_data: BYTES.toBase64(), vector: VECTOR, metadata });
  await using _ = relayer;
  const { body } = await relayer.svc.send("DELETE", `/api/memories/${id}`);
  assert.equal(body.blob, "deleted");
  const scope = { owner: relayer.svc.owner, namespace: "default" };
  const left = await Array.fromAsync(relayer.svc.backends.blobStore.list(scope));
  // A note of the deletion for other relayers may be there.
  assert.deepEqual(left.filter(({ bytes }) => bytes === BYTES.length), []);
});
