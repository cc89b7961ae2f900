import assert from "node:assert/strict";
import type { Embedder } from "../../../src/interfaces/mod.ts";
import { memoryEmbedder } from "../../../plugins/memory/embedder.ts";
import type { Json, TestRelayer } from "../../relayer_fixture.ts";
import { verifies } from "../../requirements.ts";
import { DurableRelayer } from "../durable.ts";
import { Gate, intercepted } from "../intercepted.ts";

const present = async (svc: TestRelayer): Promise<string[]> =>
  (await svc.get("/api/memories?order=oldest")).body.memories.map(({ text }: Json) => text);

Deno.test("links that came along stay when a memory is changed before it is indexed", async () => {
  verifies("10.9-34");
  const gate = new Gate();
  const embedder = (): Embedder =>
    intercepted<Embedder>(memoryEmbedder(), {
      embed: async (next, ...args) => {
        await gate.pass();
        return await next(...args);
      },
    });
  await using durable = await DurableRelayer.start({ embedder });
  const { svc } = durable;
  const old = await svc.remember("I live in Berlin");
  const memory_id = crypto.randomUUID();
  const line = {
    memory_id,
    text: "My home is Lisbon",
    links: [{ id: old, kind: "supersedes", by: "caller", score: 1 }],
  };
  gate.close();
  const imported = await svc.send("POST", "/api/import", JSON.stringify(line), {
    headers: { "content-type": "application/x-ndjson" },
  });
  assert.equal(imported.body.accepted, 1, imported.text);
  await gate.reached;
  const change = { text: "My home is in Lisbon" };
  const changed = await svc.send("PUT", `/api/memories/${memory_id}`, change);
  assert.equal(changed.status, 202, changed.text);
  gate.open();
  await svc.relayer.idle();
  assert.deepEqual(await present(svc), ["My home is in Lisbon"]);
  const { body } = await svc.get(`/api/memories/${memory_id}`);
  assert.deepEqual([body.version, body.supersedes], [2, [old]]);
});
