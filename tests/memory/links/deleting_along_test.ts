import assert from "node:assert/strict";
import type { VectorStore } from "../../../src/interfaces/mod.ts";
import type { Json, TestRelayer } from "../../relayer_fixture.ts";
import { verifies } from "../../requirements.ts";
import { DurableRelayer } from "../durable.ts";
import { Gate, intercepted } from "../intercepted.ts";

const TEXTS = ["My sister lives in Brno.", "My sister is living in Brno"];

async function save(svc: TestRelayer, text: string): Promise<string> {
  const { status, body } = await svc.post("/api/remember", { text });
  assert.equal(status, 202);
  await svc.relayer.idle();
  return body.memory_id;
}

const left = async (svc: TestRelayer): Promise<number> =>
  (await svc.get("/api/memories?include=history")).body.memories.length;

Deno.test("a power cut leaves what says the same with the memory that is deleted, or neither", async () => {
  verifies("10.9-36");
  const gate = new Gate();
  let starts = 0;
  const wrap = {
    vectorStore: (backend: VectorStore) => {
      const start = ++starts;
      return intercepted<VectorStore>(backend, {
        scan: async (next, ...args) => {
          // What is cut off stands still.
          if (start === 2) await gate.pass();
          return await next(...args);
        },
      });
    },
  };
  await using durable = await DurableRelayer.start({ config: { deduplicate: true }, wrap });
  const [first] = [await save(durable.svc, TEXTS[0]!), await save(durable.svc, TEXTS[1]!)];
  // So that the namespace is not loaded.
  await durable.restart();
  gate.close();
  const deleting = durable.svc.send("DELETE", `/api/memories/${first}`).catch(() => {});
  await gate.reached;
  await durable.cutPower();
  gate.open();
  await deleting;
  await durable.svc.relayer.idle();
  assert.equal(await left(durable.svc), 2);
  const { body }: { readonly body: Json } = await durable.svc.send(
    "DELETE",
    `/api/memories/${first}`,
  );
  assert.equal(body.deleted, true);
  assert.equal(await left(durable.svc), 0);
});
