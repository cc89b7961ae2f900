import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import { verifies } from "../requirements.ts";
import { DurableRelayer, type Wrap } from "./durable.ts";
import { Gate, intercepted } from "./intercepted.ts";

/** Where a job may be when its memory is deleted. */
const STAGES = ["embed", "seal", "upsert", "put", "link"] as const;
type Stage = typeof STAGES[number];

/** Backends whose stage waits at the gate, before it is done or before it is answered. */
function gatedAt(stage: Stage, gate: Gate, done: boolean): Wrap {
  const around = async <T>(name: Stage, work: () => Promise<T>): Promise<T> => {
    if (name !== stage) return await work();
    if (!done) await gate.pass();
    const result = await work();
    if (done) await gate.pass();
    return result;
  };
  return {
    embedder: (embedder) =>
      intercepted(embedder, {
        embed: (next, ...args) =>
          args[1].purpose === "query" ? next(...args) : around("embed", () => next(...args)),
      }),
    cipher: (cipher) =>
      intercepted(cipher, {
        seal: (next, ...args) => around("seal", () => next(...args)),
      }),
    vectorStore: (vectorStore) =>
      intercepted(vectorStore, {
        upsert: (next, ...args) => around("upsert", () => next(...args)),
        link: (next, ...args) => around("link", () => next(...args)),
      }),
    blobStore: (blobStore) =>
      intercepted(blobStore, {
        put: (next, ...args) => around("put", () => next(...args)),
      }),
  };
}

/** Nothing of the namespace is left anywhere. */
async function assertEmpty({ svc }: DurableRelayer): Promise<void> {
  const scope = { owner: svc.owner, namespace: "default" };
  const { vectorStore, blobStore } = svc.backends;
  assert.deepEqual((await vectorStore.scan(scope)).entries, []);
  assert.deepEqual(await Array.fromAsync(blobStore.list(scope)), []);
  assert.deepEqual(await svc.recall("tea"), []);
  assert.equal((await svc.get("/api/memories")).body.total, 0);
  const restored = await svc.post("/api/restore", { namespace: "default" });
  assert.equal(restored.body.restored, 0);
}

Deno.test("a deleted memory is gone everywhere, and cannot be deleted twice", async () => {
  verifies("10.9-13", "10.9-14", "10.9-8", "10.6-22");
  await using durable = await DurableRelayer.start();
  const { svc } = durable;
  for (const text of ["tea", "tea ".repeat(10_000)]) {
    const id = await svc.remember(text);
    const other = await svc.addAccount();
    const foreign = await svc.send("DELETE", `/api/memories/${id}`, undefined, { key: other.key });
    assert.equal(foreign.body.code, "memory_not_found");
    const { status, body } = await svc.send("DELETE", `/api/memories/${id}`);
    assert.equal(status, 200);
    const { receipt: _, erased: __, ...rest } = body;
    assert.deepEqual(rest, { memory_id: id, deleted: true, blob: "deleted" });
    const again = await svc.send("DELETE", `/api/memories/${id}`);
    assert.equal(again.status, 404);
    assert.equal(again.body.code, "memory_not_found");
    assert.equal((await svc.get(`/api/memories/${id}`)).status, 404);
    await assertEmpty(durable);
    // The job's record stays what it was: the deletion came later.
    assert.equal((await svc.get(`/api/remember/${id}`)).body.status, "done");
  }
  const unknown = await svc.send("DELETE", `/api/memories/${crypto.randomUUID()}`);
  assert.equal(unknown.body.code, "memory_not_found");
  await durable.restart();
  await assertEmpty(durable);
});

for (const text of ["tea", "tea ".repeat(10_000)]) {
  const size = text.length > 100 ? "large" : "small";
  for (const stage of STAGES) {
    for (const done of [false, true]) {
      const moment = `${done ? "after" : "before"} ${stage}`;
      Deno.test(`a ${size} memory deleted ${moment} leaves nothing`, async () => {
        verifies("8-2", "8-19");
        const gate = new Gate();
        await using durable = await DurableRelayer.start({
          wrap: gatedAt(stage, gate, done),
        });
        gate.close();
        const { job_id } = (await durable.svc.post("/api/remember", { text })).body;
        await gate.reached;
        const deleted = durable.svc.send("DELETE", `/api/memories/${job_id}`);
        // A deletion may have to ask the store for the blob's name, at the same gate.
        if (stage === "put") gate.open();
        assert.equal((await deleted).status, 200);
        gate.open();
        const job = (await durable.svc.get(`/api/remember/${job_id}`)).body;
        assert.equal(job.status, "failed");
        assert.equal(job.error_code, "deleted");
        await durable.svc.relayer.idle();
        await assertEmpty(durable);
        assert.equal((await durable.svc.get(`/api/remember/${job_id}`)).body.status, "failed");
        const retry = await durable.svc.post(`/api/remember/${job_id}/retry`, {});
        assert.equal(retry.body.code, "job_not_retryable");
      });

      Deno.test(`a ${size} memory deleted ${moment}, then a power cut, leaves nothing`, async () => {
        verifies("8-19", "6-2");
        const gate = new Gate();
        await using durable = await DurableRelayer.start({
          wrap: gatedAt(stage, gate, done),
        });
        gate.close();
        const { job_id } = (await durable.svc.post("/api/remember", { text })).body;
        await gate.reached;
        if (stage !== "put") {
          assert.equal((await durable.svc.send("DELETE", `/api/memories/${job_id}`)).status, 200);
        }
        await durable.cutPower({ wrap: {} });
        gate.open();
        if (stage === "put") {
          assert.equal((await durable.svc.send("DELETE", `/api/memories/${job_id}`)).status, 200);
        }
        await durable.svc.relayer.idle();
        await assertEmpty(durable);
      });
    }
  }
}

Deno.test("a deletion that fails half-way hides the memory; another call finishes it", async () => {
  verifies("10.6-22");
  let down = false;
  await using durable = await DurableRelayer.start({
    wrap: {
      vectorStore: (vectorStore) =>
        intercepted(vectorStore, {
          delete: (next, ...args) =>
            down ? Promise.reject(new SvcError("storage_unavailable")) : next(...args),
        }),
    },
  });
  const { svc } = durable;
  const id = await svc.remember("tea");
  down = true;
  assert.equal((await svc.send("DELETE", `/api/memories/${id}`)).status, 503);
  assert.deepEqual(await svc.recall("tea"), []);
  assert.equal((await svc.get(`/api/memories/${id}`)).status, 404);
  assert.deepEqual((await svc.get("/api/memories")).body.memories, []);
  down = false;
  assert.equal((await svc.send("DELETE", `/api/memories/${id}`)).status, 200);
  assert.equal((await svc.send("DELETE", `/api/memories/${id}`)).status, 404);
  await assertEmpty(durable);
});

Deno.test("a deletion that fails half-way is finished by the next start", async () => {
  let down = false;
  await using durable = await DurableRelayer.start({
    wrap: {
      blobStore: (blobStore) =>
        intercepted(blobStore, {
          delete: (next, ...args) =>
            down ? Promise.reject(new SvcError("storage_unavailable")) : next!(...args),
        }),
    },
  });
  const ids = [await durable.svc.remember("tea"), await durable.svc.remember("green tea")];
  const kept = await durable.svc.remember("coffee", { namespace: "kept" });
  down = true;
  for (const id of ids) {
    assert.equal((await durable.svc.send("DELETE", `/api/memories/${id}`)).status, 503);
  }
  down = false;
  await durable.cutPower();
  await assertEmpty(durable);
  assert.equal((await durable.svc.get(`/api/memories/${kept}`)).status, 200);
});

Deno.test("a failed job's sealed memory goes with its deletion", async () => {
  verifies("10.9-13", "10.2-6");
  await using durable = await DurableRelayer.start({
    wrap: {
      blobStore: (blobStore) =>
        intercepted(blobStore, {
          put: () => {
            const error = new SvcError("storage_unavailable", undefined, { retryable: false });
            return Promise.reject(error);
          },
        }),
    },
  });
  const { svc } = durable;
  const id = await svc.remember("tea ".repeat(10_000));
  assert.equal((await svc.get(`/api/remember/${id}`)).body.recallable, true);
  assert.equal((await svc.recall("tea")).length, 1);
  // Nobody knows whether the store has it.
  assert.equal((await svc.send("DELETE", `/api/memories/${id}`)).body.blob, "retained");
  await assertEmpty(durable);
  const retry = await svc.post(`/api/remember/${id}/retry`, {});
  assert.equal(retry.body.code, "job_not_retryable");
  await durable.restart({}, async (dir) => {
    using kv = await Deno.openKv(`${dir}/jobs.kv`);
    const chunks = await Array.fromAsync(kv.list({ prefix: ["chunk"] }));
    assert.deepEqual(chunks, []);
  });
});

Deno.test("a deletion that expects another version than the newest deletes nothing", async () => {
  verifies("10.9-33");
  const gate = new Gate();
  await using durable = await DurableRelayer.start({ wrap: gatedAt("embed", gate, false) });
  const { svc } = durable;
  const id = await svc.remember("tea");
  const remove = (query: string, key = svc.key) =>
    svc.send("DELETE", `/api/memories/${id}${query}`, undefined, { key });
  for (const wrong of ["2", "7"]) {
    const refused = await remove(`?expected_version=${wrong}`);
    assert.deepEqual([refused.status, refused.body.code], [409, "version_conflict"]);
  }
  for (const bad of ["0", "x", "-1", "1.5"]) {
    assert.equal((await remove(`?expected_version=${bad}`)).body.code, "invalid_parameter");
  }
  // Also before the newest one is recallable.
  gate.close();
  assert.equal((await svc.send("PUT", `/api/memories/${id}`, { text: "coffee" })).status, 202);
  assert.equal((await remove("?expected_version=1")).body.code, "version_conflict");
  assert.deepEqual(await svc.recall("tea"), ["tea"]);
  gate.open();
  await svc.relayer.idle();
  assert.equal((await remove("?expected_version=1")).body.code, "version_conflict");
  const writes = await svc.addKey(["write"]);
  assert.equal((await remove("?expected_version=2", writes)).body.code, "permission_denied");
  assert.equal((await remove("?expected_version=2")).status, 200);
  await assertEmpty(durable);
  assert.equal((await remove("?expected_version=2")).body.code, "memory_not_found");
});

Deno.test("a deletion that is cut off finds the blob of an import that was cut off", async () => {
  verifies("10.9-13", "10.14-1");
  const stored = new Gate();
  const removing = new Gate();
  let puts = 0;
  await using durable = await DurableRelayer.start({
    wrap: {
      blobStore: (blobStore) =>
        intercepted(blobStore, {
          put: async (next, ...args) => {
            const blobId = await next(...args);
            if (++puts === 1) await stored.pass();
            return blobId;
          },
          delete: async (next, ...args) => {
            await removing.pass();
            return await next(...args);
          },
        }),
    },
  });
  const id = crypto.randomUUID();
  stored.close();
  const line = JSON.stringify({ type: "memory", memory_id: id, text: "tea" });
  const headers = { "content-type": "application/x-ndjson" };
  const taken = await durable.svc.send("POST", "/api/import", line, { headers });
  assert.equal(taken.body.accepted, 1);
  await stored.reached;
  // The job has ended, and the blob is there still.
  removing.close();
  const deleted = durable.svc.send("DELETE", `/api/memories/${id}`).catch(() => {});
  await removing.reached;
  await durable.cutPower({ wrap: {} });
  await assertEmpty(durable);
  stored.open();
  removing.open();
  await deleted;
});
