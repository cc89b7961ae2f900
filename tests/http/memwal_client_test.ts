import assert from "node:assert/strict";
import { MemWal } from "@mysten-incubation/memwal";
import { memoryVectorStore } from "../../plugins/memory/vector_store.ts";
import { startRelayer, type TestRelayer } from "../relayer_fixture.ts";
import { listening } from "../listening.ts";
import { verifies } from "../requirements.ts";

/** The published client, pointed at a relayer on a real port. */
function connect(svc: TestRelayer): { client: MemWal; server: AsyncDisposable } {
  const server = listening(svc.relayer.fetch);
  const client = MemWal.create({
    key: svc.key.seed.toHex(),
    accountId: svc.account.accountId,
    serverUrl: `${server.url}/`,
  });
  return { client, server };
}

Deno.test("the published client 0.0.1 remembers, recalls and restores", async () => {
  verifies("17.1-1", "17.1-2", "17.1-4", "17.1-7", "17.1-8", "4.2-1", "4.6-1", "4.6-2");
  await using svc = await startRelayer();
  const { client, server } = connect(svc);
  await using _server = server;
  assert.equal((await client.health()).status, "ok");
  assert.equal(await client.getPublicKeyHex(), svc.key.publicKey);

  const remembered = await client.remember("I am allergic to peanuts");
  assert.equal(remembered.owner, svc.owner);
  assert.equal(remembered.namespace, "default");
  assert.equal(remembered.blob_id, "");
  await client.remember("My sister lives in Lisbon", "family");
  // Accepted a moment ago: a recall waits for what its caller wrote.
  const { results, total } = await client.recall("allergic to what?");
  assert.equal(total, 1);
  assert.equal(results[0]?.text, "I am allergic to peanuts");
  assert.ok(results[0].distance >= 0 && results[0].distance < 1);
  assert.equal((await client.recall("Lisbon", 1, "family")).total, 1);
  assert.equal((await client.recall("Lisbon", 1, "nobody")).total, 0);

  await svc.relayer.idle();
  assert.notEqual((await client.recall("peanuts")).results[0]?.blob_id, "");
  const counts = await client.restore("default");
  assert.deepEqual([counts.restored, counts.skipped, counts.total], [0, 1, 1]);
  assert.equal(counts.owner, svc.owner);

  // What it knows of jobs and deletions is its own.
  const { store: _store, ...others } = svc.backends;
  await using other = await startRelayer({
    backends: { ...others, vectorStore: memoryVectorStore() },
    existing: { key: svc.key, account: svc.account },
  });
  const second = connect(other);
  await using _second = second.server;
  assert.equal((await second.client.recall("peanuts")).total, 0);
  assert.equal((await second.client.restore("default", 10)).restored, 1);
  const restored = await second.client.recall("peanuts");
  assert.deepEqual(restored.results.map((hit) => hit.text), ["I am allergic to peanuts"]);
});

Deno.test("the published client 0.0.1 analyzes", async () => {
  verifies("17.1-9");
  await using svc = await startRelayer();
  const { client, server } = connect(svc);
  await using _server = server;
  const { facts, total, owner } = await client.analyze("I love coffee and live in Tokyo. Thanks!");
  assert.deepEqual([total, owner], [1, svc.owner]);
  assert.equal(facts[0]?.text, "I love coffee and live in Tokyo.");
  const { results } = await client.recall("coffee");
  assert.deepEqual(results.map(({ text }) => text), [facts[0]?.text]);
  await svc.relayer.idle();
});

Deno.test("its manual calls work with vectors of the relayer's length", async () => {
  verifies("17.1-1", "17.1-7", "10.4-7", "10.7-1");
  await using svc = await startRelayer();
  const { client, server } = connect(svc);
  await using _server = server;
  const { vector } = await client.embed("tea with honey");
  assert.equal(vector.length, svc.backends.embedder.dimensions);
  const scope = { owner: svc.owner, namespace: "default" };
  const blobId = await svc.backends.blobStore.put(Uint8Array.of(1, 2, 3), {
    ...scope,
    idempotencyKey: "manual",
  });
  const registered = await client.rememberManual({ blobId, vector });
  assert.equal(registered.owner, svc.owner);
  const { results } = await client.recallManual({ vector });
  assert.deepEqual(results.map((hit) => hit.blob_id), [blobId]);
  assert.ok((results[0]?.distance ?? 1) < 1e-6);
});

Deno.test("its errors carry ours", async () => {
  verifies("17.1-1", "17.1-5");
  await using svc = await startRelayer({ config: { requireNonce: true } });
  const { client, server } = connect(svc);
  await using _server = server;
  await assert.rejects(client.remember("tea"), /426.*upgrade_required/);
  await assert.rejects(client.recall("tea"), /426.*upgrade_required/);
});
