import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { memoryVectorStore } from "../../plugins/memory/vector_store.ts";
import { SvcError } from "../../src/errors.ts";
import type { VectorStore } from "../../src/interfaces/mod.ts";
import { startRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { DurableRelayer } from "./durable.ts";
import { Gate, intercepted } from "./intercepted.ts";
import { turnedEmbedder } from "./other_models.ts";
import { poll, turns } from "../within.ts";

const SCOPE = { namespace: "default" };
const loseIndex = (dir: string) => Deno.remove(`${dir}/index.db`);

/** A store whose rows are written, but whose answers are lost while they are to be. */
class LosingStore {
  isLosing = false;
  readonly #lost = Promise.withResolvers<void>();

  /** Resolves when an answer was lost. */
  get lost(): Promise<void> {
    return this.#lost.promise;
  }

  readonly wrap = (store: VectorStore): VectorStore =>
    intercepted(store, {
      upsert: async (next, ...args) => {
        await next(...args);
        if (!this.isLosing) return;
        this.#lost.resolve();
        throw new SvcError("storage_unavailable", undefined, { retryable: false });
      },
    });
}

Deno.test("a large memory is read although the answer to its last try was lost", async () => {
  verifies("8-16", "10.9-7");
  const losing = new LosingStore();
  await using svc = await startRelayer({
    backends: { vectorStore: losing.wrap(memoryVectorStore()) },
  });
  const [first, second] = ["tea ".repeat(10_000), "coffee ".repeat(10_000)];
  const id = await svc.remember(first);
  losing.isLosing = true;
  const { job_id } = (await svc.send("PUT", `/api/memories/${id}`, { text: second })).body;
  await svc.relayer.idle();
  strictEqual((await svc.get(`/api/remember/${job_id}`)).body.status, "failed");
  const { text, version } = (await svc.get(`/api/memories/${id}`)).body;
  deepStrictEqual([text, version], [second, 2]);
  losing.isLosing = false;
  strictEqual((await svc.post(`/api/remember/${job_id}/retry`, undefined)).status, 202);
  await svc.relayer.idle();
  strictEqual((await svc.get(`/api/remember/${job_id}`)).body.status, "done");
  deepStrictEqual(await svc.recall("coffee"), [second]);
});

Deno.test("memories embedded anew are found although the answer was lost", async () => {
  verifies("15-43");
  const losing = new LosingStore();
  const gate = new Gate();
  const vectorStore = (store: VectorStore) =>
    losing.wrap(intercepted(store, {
      upsert: async (next, ...args) => {
        await gate.pass(args[1]?.signal);
        await next(...args);
      },
    }));
  await using durable = await DurableRelayer.start({ wrap: { vectorStore } });
  await durable.svc.remember("tea with honey");
  await durable.restart({ embedder: () => turnedEmbedder() }, () => {
    gate.close();
    losing.isLosing = true;
    return Promise.resolve();
  });
  await gate.reached;
  // The index holds the scope, without vectors, when they are written.
  strictEqual((await durable.svc.get("/api/memories")).body.total, 1);
  gate.open();
  await losing.lost;
  losing.isLosing = false;
  const asked = { query: "tea with honey", mode: "semantic" };
  const { body } = await durable.svc.post("/api/recall", asked);
  deepStrictEqual([body.total, body.pending], [1, undefined]);
});

Deno.test("what is forgotten after a restore without an answer stays forgotten", async () => {
  verifies("10.8-9", "10.10-4");
  const losing = new LosingStore();
  await using durable = await DurableRelayer.start({ wrap: { vectorStore: losing.wrap } });
  await durable.svc.remember("tea");
  await durable.restart({}, loseIndex);
  losing.isLosing = true;
  strictEqual((await durable.svc.post("/api/restore", SCOPE)).status, 503);
  losing.isLosing = false;
  strictEqual((await durable.svc.post("/api/forget", SCOPE)).status, 200);
  await durable.restart();
  deepStrictEqual(await durable.svc.recall("tea"), []);
});

Deno.test("a forget that was cut off is finished by the next start, rows of failed jobs too", async () => {
  verifies("10.8-9", "10.10-4");
  const losing = new LosingStore();
  let isCut = false;
  const vectorStore = (store: VectorStore) =>
    losing.wrap(intercepted(store, {
      delete: (next, ...args) => {
        if (isCut) throw new SvcError("storage_unavailable");
        return next(...args);
      },
    }));
  await using durable = await DurableRelayer.start({ wrap: { vectorStore } });
  await durable.svc.remember("coffee");
  // From now on the index knows what is written, and nothing else.
  deepStrictEqual(await durable.svc.recall("coffee"), ["coffee"]);
  losing.isLosing = true;
  await durable.svc.post("/api/remember", { text: "tea" });
  await durable.svc.relayer.idle();
  losing.isLosing = false;
  isCut = true;
  strictEqual((await durable.svc.post("/api/forget", SCOPE)).status, 503);
  const later = await durable.svc.remember("water");
  await durable.restart({}, () => {
    isCut = false;
    return Promise.resolve();
  });
  deepStrictEqual(await durable.svc.recall("tea coffee water"), ["water"]);
  const { memories } = (await durable.svc.get("/api/memories")).body;
  deepStrictEqual(memories.map((memory: { memory_id: string }) => memory.memory_id), [later]);
});

for (const deletion of ["deleted", "forgotten"]) {
  Deno.test(`a power cut right after a row was written again leaves none that was ${deletion}`, async () => {
    verifies("10.8-9", "10.9-13", "10.10-4");
    const [before, after] = [new Gate(), new Gate()];
    const vectorStore = (store: VectorStore) =>
      intercepted(store, {
        upsert: async (next, ...args) => {
          await before.pass();
          await next(...args);
          await after.pass();
        },
      });
    await using durable = await DurableRelayer.start({ wrap: { vectorStore } });
    const id = await durable.svc.remember("tea");
    const isRestored = deletion === "forgotten";
    const close = async (dir: string) => {
      if (isRestored) await loseIndex(dir);
      before.close();
      after.close();
    };
    // A restore writes the row, or a change of the model.
    await durable.restart(isRestored ? {} : { embedder: () => turnedEmbedder() }, close);
    const restored = isRestored ? durable.svc.post("/api/restore", SCOPE) : undefined;
    await before.reached;
    const { status } = isRestored
      ? await durable.svc.post("/api/forget", SCOPE)
      : await durable.svc.send("DELETE", `/api/memories/${id}`);
    strictEqual(status, 200);
    before.open();
    await after.reached;
    await durable.cutPower();
    after.open();
    await restored?.catch(() => {});
    deepStrictEqual(await durable.svc.recall("tea"), []);
    const scope = { owner: durable.svc.owner, namespace: "default" };
    deepStrictEqual((await durable.svc.backends.vectorStore.scan(scope)).entries, []);
  });
}

Deno.test("a power cut between two versions' jobs leaves no row of a deleted memory", async () => {
  verifies("10.9-13", "8-15");
  const [puts, before, after] = [new Gate(), new Gate(), new Gate()];
  let removals = 0;
  await using durable = await DurableRelayer.start({
    wrap: {
      blobStore: (store) =>
        intercepted(store, {
          put: async (next, ...args) => {
            await puts.pass(args[1].signal);
            return await next(...args);
          },
        }),
      vectorStore: (store) =>
        intercepted(store, {
          upsert: async (next, ...args) => {
            const isSecond = args[0][0]?.version === 2;
            if (isSecond) await before.pass();
            await next(...args);
            if (isSecond) await after.pass();
          },
          delete: async (next, ...args) => {
            await next(...args);
            removals++;
          },
        }),
    },
  });
  for (const gate of [puts, before, after]) gate.close();
  const { job_id: id } = (await durable.svc.post("/api/remember", { text: "tea" })).body;
  await puts.reached;
  await durable.svc.send("PUT", `/api/memories/${id}`, { text: "coffee" });
  await before.reached;
  strictEqual((await durable.svc.send("DELETE", `/api/memories/${id}`)).status, 200);
  // The first version's job undoes itself while the second's is about to write its row.
  puts.open();
  await poll(() => removals, (count) => count > 1);
  await turns(20);
  before.open();
  await after.reached;
  await durable.cutPower();
  after.open();
  const scope = { owner: durable.svc.owner, namespace: "default" };
  deepStrictEqual((await durable.svc.backends.vectorStore.scan(scope)).entries, []);
});
