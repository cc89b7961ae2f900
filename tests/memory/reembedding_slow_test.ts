import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { memoryEmbedder } from "../../plugins/memory/mod.ts";
import { SvcError } from "../../src/errors.ts";
import type { Json, TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { DurableRelayer, type Wrap } from "./durable.ts";
import { Gate as Stop, intercepted } from "./intercepted.ts";
import { Gate, turnedEmbedder } from "./other_models.ts";
import { poll } from "../within.ts";

const TEXTS = ["tea with honey", "a green bicycle", "peanut allergy", "the blue kettle", "Lisbon"];
const QUICK = { recallWaitMs: 30 };

/** The embedder's state as /health shows it, once it fits. */
async function until(svc: TestRelayer, fits: (embedder: Json) => boolean): Promise<Json> {
  return await poll(async () => {
    // What was found out is answered for a second.
    svc.clock.advance(1_001);
    return (await svc.plain("GET", "/health")).body.dependencies.embedder;
  }, fits);
}

const finished = (svc: TestRelayer) => until(svc, ({ status }) => status === "ok");

async function recall(svc: TestRelayer, query: string, headers: Record<string, string> = {}) {
  const { status, body } = await svc.post("/api/recall", { query, limit: 100 }, { headers });
  strictEqual(status, 200);
  return { texts: body.results.map(({ text }: Json) => text), ...body };
}

/** Every text is found by itself, at no distance, and the scope holds each once. */
async function allThere(svc: TestRelayer, texts: readonly string[] = TEXTS): Promise<void> {
  for (const text of texts) {
    const { results, pending } = await recall(svc, text);
    strictEqual(pending, undefined);
    strictEqual(results[0].text, text);
    ok(Math.abs(results[0].distance) < 1e-5, `${text}: ${results[0].distance}`);
  }
  const { total } = (await svc.get("/api/memories")).body;
  strictEqual(total, texts.length);
  deepStrictEqual(await svc.backends.vectorStore.outdated?.(), []);
}

Deno.test("after a change of the model every memory is embedded anew, each once", async () => {
  verifies("15-43");
  await using durable = await DurableRelayer.start();
  for (const text of TEXTS) await durable.svc.remember(text);
  const gate = new Gate();
  const before = (await durable.svc.get("/api/memories")).body.memories;
  await durable.restart({ embedder: () => turnedEmbedder(gate) });
  const { reembedding } = await finished(durable.svc);
  deepStrictEqual(reembedding, { done: 5, total: 5, failed: 0 });
  strictEqual(gate.count, 5);
  await allThere(durable.svc);
  deepStrictEqual((await durable.svc.get("/api/memories")).body.memories, before);
  // Nothing is left to do, and nothing is done twice.
  await durable.restart();
  deepStrictEqual(await finished(durable.svc), { status: "ok" });
  strictEqual(gate.count, 5);
});

Deno.test("another length of the vectors is no obstacle, there and back", async () => {
  verifies("15-43");
  await using durable = await DurableRelayer.start();
  for (const text of TEXTS) await durable.svc.remember(text);
  await durable.restart({ embedder: () => turnedEmbedder(new Gate(), 64) });
  await finished(durable.svc);
  await allThere(durable.svc);
  await durable.restart({ embedder: () => memoryEmbedder() });
  await finished(durable.svc);
  await allThere(durable.svc);
});

Deno.test("recall answers meanwhile from what is done, and says how much is left", async () => {
  verifies("15-44");
  await using durable = await DurableRelayer.start({ config: QUICK });
  for (const text of TEXTS) await durable.svc.remember(text);
  const gate = new Gate();
  gate.left = 0;
  await durable.restart({ embedder: () => turnedEmbedder(gate) });
  const { svc } = durable;
  // Its vectors and the query's would have the same length: still they are not compared.
  const early = await recall(svc, TEXTS[0]!);
  deepStrictEqual([early.texts, early.pending], [[], 5]);
  strictEqual((await svc.get("/api/memories")).body.total, 5);
  const state = await until(svc, () => true);
  deepStrictEqual([state.status, state.reembedding], ["degraded", {
    done: 0,
    total: 5,
    failed: 0,
  }]);
  const manual = { vector: Array(256).fill(1) };
  deepStrictEqual((await svc.post("/api/recall/manual", manual)).body.results, []);
  gate.open();
  await finished(svc);
  await allThere(svc);
});

Deno.test("a memory remembered meanwhile is found at once", async () => {
  verifies("15-44");
  await using durable = await DurableRelayer.start({ config: QUICK });
  for (const text of TEXTS) await durable.svc.remember(text);
  const gate = new Gate();
  gate.left = 1;
  gate.failing = true;
  await durable.restart({ embedder: () => turnedEmbedder(gate) });
  await durable.svc.remember("a new umbrella");
  const { texts, pending } = await recall(durable.svc, "a new umbrella");
  deepStrictEqual([texts, pending], [["a new umbrella"], 5]);
  gate.open();
  // How long it takes is the machine's affair: a recall waits 30 ms for it here.
  await finished(durable.svc);
  const waited = await recall(durable.svc, "umbrella");
  strictEqual(waited.pending ?? 0, 0);
  await allThere(durable.svc, [...TEXTS, "a new umbrella"]);
});

Deno.test("a power cut on the way loses nothing and doubles nothing", async () => {
  verifies("15-43");
  await using durable = await DurableRelayer.start({ config: QUICK });
  const texts = Array.from({ length: 100 }, (_, i) => `memory number ${i} of many`);
  for (const text of texts) await durable.svc.post("/api/remember", { text });
  await durable.svc.relayer.idle();
  const gate = new Gate();
  gate.left = 40;
  await durable.restart({ embedder: () => turnedEmbedder(gate) });
  await until(durable.svc, ({ reembedding }) => reembedding?.done === 32);
  await durable.cutPower();
  const { reembedding } = await until(durable.svc, ({ reembedding }) => reembedding !== undefined);
  strictEqual(reembedding.total, 68);
  gate.open();
  await finished(durable.svc);
  const found = (await recall(durable.svc, texts[7]!)).texts;
  deepStrictEqual(found.toSorted(), texts.toSorted());
  deepStrictEqual(await durable.svc.backends.vectorStore.outdated?.(), []);
});

Deno.test("what is deleted or forgotten on the way stays gone", async () => {
  await using durable = await DurableRelayer.start({ config: QUICK });
  const ids: string[] = [];
  for (const text of TEXTS) ids.push(await durable.svc.remember(text));
  await durable.svc.remember("elsewhere", { namespace: "other" });
  const gate = new Gate();
  gate.left = 0;
  await durable.restart({ embedder: () => turnedEmbedder(gate) });
  const { svc } = durable;
  await recall(svc, "tea");
  strictEqual((await svc.send("DELETE", `/api/memories/${ids[0]}`)).status, 200);
  strictEqual((await svc.post("/api/forget", { namespace: "other" })).body.deleted, 1);
  gate.open();
  await finished(svc);
  await allThere(svc, TEXTS.slice(1));
  deepStrictEqual((await svc.get("/api/namespaces")).body.total, 1);
});

Deno.test("a job of before the change is finished with vectors of after it", async () => {
  verifies("15-44");
  await using durable = await DurableRelayer.start({
    wrap: {
      blobStore: (blobStore) =>
        intercepted(blobStore, {
          put: () => Promise.reject(new SvcError("storage_unavailable")),
        }),
    },
  });
  // Sealed, indexed and not stored: the saved result holds vectors of the former model.
  for (const text of TEXTS) {
    await durable.svc.post("/api/remember", { text });
    await recall(durable.svc, text);
  }
  await durable.restart({ embedder: () => turnedEmbedder(), wrap: {} });
  await finished(durable.svc);
  await durable.svc.relayer.idle();
  await allThere(durable.svc);
});

Deno.test("a client's own vectors of the former model are kept, and compared with nothing", async () => {
  verifies("15-44");
  await using durable = await DurableRelayer.start();
  const manual = { encrypted_data: "AAAA", vector: Array(256).fill(1) };
  const { memory_id } = (await durable.svc.post("/api/remember/manual", manual)).body;
  const found = async () =>
    (await durable.svc.post("/api/recall/manual", { vector: manual.vector })).body.results
      .map((hit: Json) => hit.memory_id);
  deepStrictEqual(await found(), [memory_id]);
  await durable.restart({ embedder: () => turnedEmbedder() });
  await finished(durable.svc);
  deepStrictEqual(await found(), []);
  strictEqual((await durable.svc.get("/api/memories")).body.total, 1);
  await durable.restart({ embedder: () => memoryEmbedder() });
  deepStrictEqual(await found(), [memory_id]);
});

Deno.test("a text that cannot be embedded keeps nobody else from it", async () => {
  await using durable = await DurableRelayer.start();
  for (const text of TEXTS) await durable.svc.remember(text);
  const gate = new Gate();
  gate.refused.add(TEXTS[2]!);
  await durable.restart({ embedder: () => turnedEmbedder(gate) });
  const { reembedding } = await finished(durable.svc);
  deepStrictEqual(reembedding, { done: 4, total: 5, failed: 1 });
  const { texts } = await recall(durable.svc, "tea");
  deepStrictEqual(texts.toSorted(), TEXTS.filter((text) => text !== TEXTS[2]).toSorted());
  strictEqual((await durable.svc.get("/api/memories")).body.total, 5);
});

Deno.test("texts that open with a credential wait for the scope's next request with one", async () => {
  verifies("15-43");
  const needy: Wrap = {
    cipher: (cipher) => ({
      needsCredential: true,
      seal: (...args) => cipher.seal(...args),
      open(items, { credential, ...context }) {
        if (credential?.delegateKey === undefined) throw new SvcError("decrypt_credential_invalid");
        return cipher.open(items, context);
      },
      rotate: (accountId) => cipher.rotate(accountId),
      destroy: (keyId) => cipher.destroy(keyId),
      [Symbol.asyncDispose]: () => cipher[Symbol.asyncDispose](),
    }),
  };
  await using durable = await DurableRelayer.start({ wrap: needy });
  for (const text of TEXTS) await durable.svc.remember(text);
  await durable.svc.remember("elsewhere", { namespace: "other" });
  const gate = new Gate();
  await durable.restart({ embedder: () => turnedEmbedder(gate) });
  const { svc } = durable;
  strictEqual(gate.count, 0);
  const { texts } = await recall(svc, TEXTS[1]!, { "x-delegate-key": "cd".repeat(32) });
  strictEqual(texts[0], TEXTS[1]);
  strictEqual(gate.count, 5);
  deepStrictEqual(await until(svc, () => true), {
    status: "ok",
    reembedding: { done: 5, total: 6, failed: 0 },
  });
});

Deno.test("a job that ends while its row is read anew keeps its blob", async () => {
  const [puts, upserts, gets] = [new Stop(), new Stop(), new Stop()];
  puts.close();
  await using durable = await DurableRelayer.start({
    wrap: {
      blobStore: (blobStore) =>
        intercepted(blobStore, {
          put: async (next, ...args) => {
            await puts.pass(args[1].signal);
            return await next(...args);
          },
        }),
      vectorStore: (vectorStore) =>
        intercepted(vectorStore, {
          upsert: async (next, ...args) => {
            await upserts.pass(args[1]?.signal);
            return await next(...args);
          },
          get: async (next, ...args) => {
            const rows = await next(...args);
            await gets.pass();
            return rows;
          },
        }),
    },
  });
  const text = "tea ".repeat(10_000);
  const { job_id } = (await durable.svc.post("/api/remember", { text })).body;
  await puts.reached;
  await durable.restart({ embedder: () => turnedEmbedder() }, () => {
    upserts.close();
    gets.close();
    return Promise.resolve();
  });
  // Its row has been read for new vectors when the job, taken up again, writes and ends.
  await Promise.all([upserts.reached, gets.reached]);
  puts.open();
  upserts.open();
  await durable.svc.relayer.idle();
  gets.open();
  await finished(durable.svc);
  await durable.restart();
  const memory = (await durable.svc.get(`/api/memories/${job_id}`)).body;
  deepStrictEqual([memory.status, memory.text], ["done", text]);
});
