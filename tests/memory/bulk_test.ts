import assert from "node:assert/strict";
import { memoryEmbedder } from "../../plugins/memory/embedder.ts";
import { SvcError } from "../../src/errors.ts";
import { startRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { intercepted } from "./intercepted.ts";

const items = (count: number) => Array.from({ length: count }, (_, i) => ({ text: `item ${i}` }));

Deno.test("a bulk is accepted whole or not at all", async () => {
  verifies("6-3", "6-5");
  await using svc = await startRelayer({ config: { maxPendingJobs: 20 } });
  const refused = await svc.post("/api/remember/bulk", { items: items(11) });
  assert.equal(refused.status, 503);
  assert.equal(refused.body.code, "overloaded");
  await svc.relayer.idle();
  assert.equal((await svc.post("/api/stats", {})).body.memory_count, 0);
  const accepted = await svc.post("/api/remember/bulk", { items: items(10) });
  assert.equal(accepted.status, 202);
  assert.equal(accepted.body.total, 10);
  await svc.relayer.idle();
  assert.equal((await svc.post("/api/stats", {})).body.memory_count, 10);
  const bad = [...items(2), { text: "" }];
  const invalid = await svc.post("/api/remember/bulk", { items: bad });
  assert.equal(invalid.body.field, "items[2].text");
  await svc.relayer.idle();
  assert.equal((await svc.post("/api/stats", {})).body.memory_count, 10);
});

Deno.test("after acceptance each item succeeds or fails alone, ids in order", async () => {
  verifies("6-6", "10.3-4", "10.3-6", "10.3-7");
  const embedder = intercepted(memoryEmbedder(), {
    embed: (next, ...args) => {
      if (!args[0].includes("item 2")) return next(...args);
      const error = new SvcError("embedding_unavailable", undefined, { retryable: false });
      return Promise.reject(error);
    },
  });
  await using svc = await startRelayer({ backends: { embedder } });
  const { body } = await svc.post("/api/remember/bulk", { items: items(5) });
  await svc.relayer.idle();
  const ids: string[] = body.job_ids;
  const status = await svc.post("/api/remember/bulk/status", { job_ids: [...ids, ids[0]] });
  const states = status.body.results.map((item: { status: string }) => item.status);
  assert.deepEqual(states, ["done", "done", "failed", "done", "done", "done"]);
  assert.equal(status.body.results[2].error_code, "embedding_failed");
  for (const i of [0, 1, 3, 4]) {
    assert.equal((await svc.get(`/api/memories/${ids[i]}`)).body.text, `item ${i}`);
  }
});
