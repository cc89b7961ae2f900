import assert from "node:assert/strict";
import { startRelayer, testBackends, TestClock, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";

async function used(svc: TestRelayer): Promise<number> {
  return (await svc.get("/api/account")).body.quota.used_bytes;
}

Deno.test("a quota is checked when a memory is accepted, and freed by deletion", async () => {
  verifies("5-15", "7-18", "7-19");
  await using svc = await startRelayer({ config: { quotaBytes: 3000 } });
  const text = "tea ".repeat(400);
  const id = await svc.remember(text);
  assert.ok(await used(svc) > text.length && await used(svc) < 3000);
  const requests = [
    ["/api/remember", { text }],
    ["/api/remember/bulk", { items: [{ text: "small" }, { text }] }],
  ] as const;
  for (const [target, body] of requests) {
    assertError(await svc.post(target, body), [402, "quota_exceeded"], {}, target);
  }
  await svc.relayer.idle();
  assert.equal((await svc.get("/api/memories")).body.total, 1, "nothing of the bulk was accepted");
  assert.equal((await svc.post("/api/recall", { query: "tea" })).body.total, 1, "reading is free");

  assert.equal((await svc.send("DELETE", `/api/memories/${id}`)).status, 200);
  assert.equal(await used(svc), 0);
  await svc.remember(text, { namespace: "a" });
  assert.equal((await svc.post("/api/remember", { text })).status, 402);
  await svc.post("/api/forget", { namespace: "a" });
  assert.equal(await used(svc), 0);
  await svc.remember(text);
});

Deno.test("jobs that are not indexed yet count too", async () => {
  verifies("7-18");
  const clock = new TestClock();
  const backends = await testBackends(clock);
  const gate = Promise.withResolvers<void>();
  const embed: typeof backends.embedder.embed = async (...args) => {
    await gate.promise;
    return await backends.embedder.embed(...args);
  };
  await using svc = await startRelayer({
    clock,
    backends: { ...backends, embedder: { ...backends.embedder, embed } },
    config: { quotaBytes: 3000 },
  });
  const text = "tea ".repeat(400);
  assert.equal((await svc.post("/api/remember", { text })).status, 202);
  assert.equal(await used(svc), 0);
  assertError(await svc.post("/api/remember", { text }), [402, "quota_exceeded"]);
  gate.resolve();
  await svc.relayer.idle();
});

Deno.test("writes that arrive together share what is left of the quota", async () => {
  verifies("7-18");
  await using svc = await startRelayer({ config: { quotaBytes: 3000 } });
  const writes = Array.from({ length: 6 }, (_, i) => `${i} tea `.repeat(190));
  const answers = await Promise.all(writes.map((text) => svc.post("/api/remember", { text })));
  const accepted = answers.filter(({ status }) => status === 202).length;
  assert.deepEqual([accepted, answers.filter(({ status }) => status === 402).length], [2, 4]);
  await svc.relayer.idle();
  assert.ok(await used(svc) < 3000);
  await svc.post("/api/forget", { namespace: "default" });
  assert.equal((await svc.post("/api/remember", { text: writes[0] })).status, 202);
  await svc.relayer.idle();
});

Deno.test("a quota of 0 is none; owners have quotas of their own", async () => {
  verifies("7-20", "10.10-8");
  await using free = await startRelayer({ config: { quotaBytes: 0 } });
  await free.remember("tea ".repeat(10_000));
  assert.equal((await free.get("/api/account")).body.quota.limit_bytes, null);
  await using svc = await startRelayer({ config: { quotaBytes: 3000 } });
  const text = "tea ".repeat(400);
  const { key } = await svc.addAccount();
  await svc.remember(text);
  await svc.remember(text, {}, { key });
});
