import assert from "node:assert/strict";
import { memoryVectorStore } from "../../plugins/memory/vector_store.ts";
import { startRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { intercepted } from "./intercepted.ts";

Deno.test("a store that answers another owner's memory shows and deletes nothing of it", async () => {
  verifies("10.9-8");
  const owners: string[] = [];
  const vectorStore = intercepted(memoryVectorStore(), {
    get: async (next, _owner, ids) =>
      (await Promise.all(owners.map((owner) => next(owner, ids)))).flat(),
  });
  await using svc = await startRelayer({ backends: { vectorStore } });
  const stranger = await svc.addAccount();
  owners.push(svc.owner, stranger.account.owner);
  const vector = new Array(256).fill(0).with(0, 1);
  const item = { encrypted_data: "AAAA", vector, namespace: "private" };
  const { body } = await svc.post("/api/remember/manual", item);
  const path = `/api/memories/${body.memory_id}`;
  assert.equal((await svc.get(path, { key: stranger.key })).status, 404);
  assert.equal((await svc.send("DELETE", path, undefined, { key: stranger.key })).status, 404);
  assert.equal((await svc.get(path)).body.namespace, "private");
});

Deno.test("a store that answers more than it was asked for has nothing else deleted", async () => {
  const all: string[] = [];
  const vectorStore = intercepted(memoryVectorStore(), {
    get: async (next, owner, ids) => [...await next(owner, all), ...await next(owner, ids)],
  });
  await using svc = await startRelayer({ backends: { vectorStore } });
  all.push(await svc.remember("I like green tea"));
  const id = await svc.remember("The dog is called Biscuit");
  assert.equal((await svc.get(`/api/memories/${id}`)).body.text, "The dog is called Biscuit");
  await svc.send("DELETE", `/api/memories/${id}`);
  assert.deepEqual(await svc.recall("green tea"), ["I like green tea"]);
  assert.deepEqual(await svc.recall("dog Biscuit", { max_distance: 0.5 }), []);
});
