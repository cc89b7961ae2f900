import assert from "node:assert/strict";
import { memoryEmbedder } from "../../plugins/memory/embedder.ts";
import { startRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { Gate, intercepted } from "./intercepted.ts";

Deno.test("the quota is reached, refused at its edge, and freed by deletion and forget", async () => {
  await using measuring = await startRelayer();
  const text = "x".repeat(1000);
  await measuring.remember(text);
  const one = (await measuring.get("/api/account")).body.quota.used_bytes;
  // Room for exactly one sealed memory and one more text.
  await using svc = await startRelayer({ config: { quotaBytes: one + text.length } });
  const first = await svc.remember(text);
  assert.equal((await svc.get("/api/account")).body.quota.limit_bytes, one + text.length);
  const over = await svc.post("/api/remember", { text: `${text}y` });
  assert.equal(over.status, 402);
  assert.equal(over.body.code, "quota_exceeded");
  await svc.remember(text);
  const items = [{ text: "a" }];
  assert.equal((await svc.post("/api/remember", { text: "a" })).status, 402);
  assert.equal((await svc.post("/api/remember/bulk", { items })).status, 402);
  const manual = { encrypted_data: "AAAA", vector: Array(256).fill(1) };
  assert.equal((await svc.post("/api/remember/manual", manual)).status, 402);
  assert.equal((await svc.post("/api/stats", {})).body.memory_count, 2);
  // Another owner has a quota of its own.
  const { key } = await svc.addAccount();
  assert.equal((await svc.post("/api/remember", { text }, { key })).status, 202);
  await svc.send("DELETE", `/api/memories/${first}`);
  await svc.remember("a");
  await svc.post("/api/forget", { namespace: "default" });
  assert.equal((await svc.get("/api/account")).body.quota.used_bytes, 0);
  await svc.remember(text);
});

Deno.test("memories that wait for a worker count", async () => {
  verifies("10.1-11");
  const gate = new Gate();
  const embedder = intercepted(memoryEmbedder(), {
    embed: async (next, ...args) => {
      await gate.pass(args[1].signal);
      return await next(...args);
    },
  });
  await using svc = await startRelayer({ config: { quotaBytes: 100 }, backends: { embedder } });
  gate.close();
  assert.equal((await svc.post("/api/remember", { text: "x".repeat(60) })).status, 202);
  assert.equal((await svc.post("/api/remember", { text: "x".repeat(41) })).status, 402);
  const waiting = (await svc.post("/api/remember", { text: "x".repeat(40) })).body.job_id;
  assert.equal((await svc.post("/api/remember", { text: "x" })).status, 402);
  await svc.send("DELETE", `/api/memories/${waiting}`);
  assert.equal((await svc.post("/api/remember", { text: "x".repeat(40) })).status, 202);
  gate.open();
  await svc.relayer.idle();
});
