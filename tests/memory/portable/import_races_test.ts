import assert from "node:assert/strict";
import type { BlobStore, VectorStore } from "../../../src/interfaces/mod.ts";
import { SvcError } from "../../../src/errors.ts";
import { assertError } from "../../http/case.ts";
import type { Json, TestRelayer } from "../../relayer_fixture.ts";
import { verifies } from "../../requirements.ts";
import { DurableRelayer } from "../durable.ts";
import { Gate, intercepted } from "../intercepted.ts";

const NDJSON = { "content-type": "application/x-ndjson" };

/** Longer than what an index row holds. */
const LARGE = "a fact that fills pages ".repeat(2_000);

async function exported(svc: TestRelayer): Promise<string> {
  return (await svc.post("/api/export", { namespace: "default" })).text;
}

const importing = (svc: TestRelayer, lines: string) =>
  svc.send("POST", "/api/import", lines, { headers: NDJSON });

const idsOf = async (svc: TestRelayer): Promise<string[]> =>
  (await svc.get("/api/memories")).body.memories.map(({ memory_id }: Json) => memory_id);

for (const [size, text] of [["small", "a fact"], ["large", LARGE]] as const) {
  Deno.test(`a ${size} memory whose job ends while an import looks at it is there once`, async () => {
    verifies("10.11-5");
    const gate = new Gate();
    let looking: (() => Promise<void>) | undefined;
    await using durable = await DurableRelayer.start({
      wrap: {
        blobStore: (backend: BlobStore) =>
          intercepted<BlobStore>(backend, {
            put: async (next, ...args) => {
              await gate.pass();
              return await next(...args);
            },
          }),
        vectorStore: (backend: VectorStore) =>
          intercepted<VectorStore>(backend, {
            get: async (next, ...args) => {
              const rows = await next(...args);
              const look = looking;
              looking = undefined;
              await look?.();
              return rows;
            },
          }),
      },
    });
    const { svc } = durable;
    gate.close();
    const { body: { memory_id } } = await svc.post("/api/remember", { text });
    await gate.reached;
    const lines = await exported(svc);
    looking = async () => {
      gate.open();
      await svc.relayer.idle();
    };
    const { status, body } = await importing(svc, lines);
    assert.equal(status, 202);
    assert.equal(looking, undefined);
    assert.deepEqual(body.skips, [{ line: 2, reason: "exists" }]);
    await svc.relayer.idle();
    assert.deepEqual(await idsOf(svc), [memory_id]);
  });
}

Deno.test("what is brought back together stands to each other as it did", async () => {
  verifies("10.11-16");
  await using durable = await DurableRelayer.start();
  const { svc } = durable;
  const shown = async () =>
    (await svc.get("/api/memories")).body.memories.map(({ text }: Json) => text);
  const old = await svc.remember("I live in Berlin");
  await svc.remember("My home is Lisbon", { supersedes: [old] });
  const lines = await exported(svc);
  await svc.post("/api/forget", { namespace: "default" });
  const bringBack = async () => {
    const headers = { headers: NDJSON };
    const { body } = await svc.send("POST", "/api/import?bring_back=true", lines, headers);
    await svc.relayer.idle();
    return body.accepted;
  };
  assert.equal(await bringBack(), 2);
  assert.deepEqual(await shown(), ["My home is Lisbon"]);
  assert.equal(await bringBack(), 0);
  // The one that is there already is what the other one is tied to.
  const [{ memory_id }] = (await svc.get("/api/memories")).body.memories;
  await svc.send("DELETE", `/api/memories/${memory_id}`);
  assert.deepEqual(await shown(), ["I live in Berlin"]);
  assert.equal(await bringBack(), 1);
  assert.deepEqual(await shown(), ["My home is Lisbon"]);
});

Deno.test("a memory that cannot be read for now is not imported beside itself", async () => {
  verifies("10.11-5", "10.11-15");
  let stored: "there" | "unreachable" | "lost" = "there";
  await using durable = await DurableRelayer.start({
    wrap: {
      blobStore: (backend: BlobStore) =>
        intercepted<BlobStore>(backend, {
          get: async (next, ...args) => {
            if (stored === "unreachable") throw new SvcError("storage_unavailable");
            return stored === "lost" ? undefined : await next(...args);
          },
        }),
    },
  });
  const { svc } = durable;
  const id = await svc.remember(LARGE);
  const lines = await exported(svc);
  stored = "unreachable";
  assertError(await importing(svc, lines), [503, "storage_unavailable"]);
  stored = "there";
  assert.deepEqual((await importing(svc, lines)).body.skips, [{ line: 2, reason: "exists" }]);
  assert.deepEqual(await idsOf(svc), [id]);
  // What nothing has any more comes back out of the export.
  stored = "lost";
  assert.equal((await importing(svc, lines)).body.accepted, 1);
  stored = "there";
  await svc.relayer.idle();
  assert.equal((await idsOf(svc)).length, 2);
});

for (const kind of ["goes on", "failed"] as const) {
  Deno.test(`an import is taken while the deletion of a memory ${kind}`, async () => {
    const gate = new Gate();
    let fails = false;
    await using durable = await DurableRelayer.start({
      wrap: {
        vectorStore: (backend: VectorStore) =>
          intercepted<VectorStore>(backend, {
            delete: async (next, ...args) => {
              if (fails) throw new SvcError("storage_unavailable");
              await gate.pass();
              return await next(...args);
            },
          }),
      },
    });
    const { svc } = durable;
    // Too large for its row, so that its record is gone with its blob.
    const id = await svc.remember(LARGE);
    await svc.remember("another one");
    const lines = await exported(svc);
    if (kind === "goes on") gate.close();
    else fails = true;
    const deleting = svc.send("DELETE", `/api/memories/${id}`);
    await (kind === "goes on" ? gate.reached : deleting);
    const { status, body } = await importing(svc, lines);
    assert.equal(status, 202);
    assert.equal(body.skipped, 2);
    fails = false;
    gate.open();
    await deleting;
  });
}
