import assert from "node:assert/strict";
import { memoryEmbedder } from "../../../plugins/memory/embedder.ts";
import { SvcError } from "../../../src/errors.ts";
import { type Json, startRelayer, type TestRelayer } from "../../relayer_fixture.ts";
import { verifies } from "../../requirements.ts";
import { Gate, intercepted } from "../intercepted.ts";

const NOTE = "Hi Sam! I'm allergic to peanuts. My sister lives near Dr. Novak in Brno. " +
  "She moved there in 2019. Do you like tea? I bought two tickets for the opera yesterday.";
const FACTS = [
  ["I'm allergic to peanuts.", 0.9],
  ["My sister lives near Dr. Novak in Brno. She moved there in 2019.", 0.9],
  ["I bought two tickets for the opera yesterday.", 0.2],
];

const analyze = (svc: TestRelayer, text: string, members: Json = {}) =>
  svc.post("/api/analyze", { text, ...members });

async function listed(svc: TestRelayer): Promise<Json[]> {
  await svc.relayer.idle();
  return (await svc.get("/api/memories?order=oldest&limit=200")).body.memories;
}

Deno.test("without a model sentences become memories, and the answer says so", async () => {
  verifies("10.5-2", "10.5-5", "10.5-8", "10.5-12", "2-19", "17.1-9", "10-8");
  await using svc = await startRelayer();
  const { status, body } = await analyze(svc, NOTE, { occurred_at: "2026-03-01T10:00:00+01:00" });
  assert.equal(status, 202);
  const ids: string[] = body.job_ids;
  assert.deepEqual(body, {
    job_ids: ids,
    facts: FACTS.map(([text], i) => ({ text, id: ids[i], job_id: ids[i], memory_id: ids[i] })),
    fact_count: 3,
    total: 3,
    status: "pending",
    owner: svc.owner,
    method: "rules",
  });
  const memories = await listed(svc);
  assert.deepEqual(memories.map(({ memory_id }) => memory_id), ids);
  assert.deepEqual(memories.map(({ text, importance }) => [text, importance]), FACTS);
  for (const { source, occurred_at } of memories) {
    assert.deepEqual([source, occurred_at], ["analyze", "2026-03-01T09:00:00.000Z"]);
  }
});

Deno.test("a text without facts gives the same shape, empty", async () => {
  verifies("10.5-6");
  await using svc = await startRelayer();
  const { status, body } = await analyze(svc, "How are you? Thanks!");
  assert.equal(status, 202);
  assert.deepEqual(body, {
    job_ids: [],
    facts: [],
    fact_count: 0,
    total: 0,
    status: "pending",
    owner: svc.owner,
    method: "rules",
  });
});

Deno.test("the same text again stores nothing new, nor does a fact remembered before", async () => {
  verifies("10.5-3", "10.5-11");
  await using svc = await startRelayer();
  await svc.remember("i am allergic to peanuts");
  assert.equal((await analyze(svc, NOTE)).body.total, 2);
  for (let i = 0; i < 3; i++) assert.equal((await analyze(svc, NOTE)).body.total, 0);
  const twice = "The gate code is 7714. Thanks. The gate code is: 7714!";
  assert.equal((await analyze(svc, twice)).body.total, 1);
  assert.equal((await listed(svc)).length, 4);
  // Another namespace knows nothing of it; what differs in one number is another fact.
  assert.equal((await analyze(svc, NOTE, { namespace: "other" })).body.total, 3);
  assert.equal((await analyze(svc, "The gate code is 7741.")).body.total, 1);
});

Deno.test("equal texts that come at once are stored once", async () => {
  verifies("10.5-11");
  await using svc = await startRelayer();
  const answers = await Promise.all(Array.from({ length: 8 }, () => analyze(svc, NOTE)));
  assert.deepEqual(answers.map(({ body }) => body.total).sort(), [0, 0, 0, 0, 0, 0, 0, 3]);
  assert.equal((await listed(svc)).length, 3);
});

Deno.test("facts that are not recallable yet are known all the same", async () => {
  verifies("10.5-11");
  const gate = new Gate();
  // The worker embeds one text a call; a comparison embeds several.
  const embedder = intercepted(memoryEmbedder(), {
    embed: async (next, ...args) => {
      if (args[0].length === 1) await gate.pass(args[1].signal);
      return await next(...args);
    },
  });
  await using svc = await startRelayer({ config: { recallWaitMs: 0 }, backends: { embedder } });
  gate.close();
  assert.equal((await analyze(svc, NOTE)).body.total, 3);
  assert.equal((await analyze(svc, NOTE)).body.total, 0);
  gate.open();
  assert.equal((await listed(svc)).length, 3);
});

Deno.test("many texts that a model places at one point do not hide an equal one", async () => {
  verifies("10.5-11");
  const embedder = intercepted(memoryEmbedder(), {
    embed: (next, texts, options) => next(texts.map(() => "unknown"), options),
  });
  await using svc = await startRelayer({ backends: { embedder } });
  const lines = Array.from({ length: 60 }, (_, n) => `My locker number ${n} opens at ${n}:15.`);
  for (let i = 0; i < 60; i += 20) {
    assert.equal((await analyze(svc, lines.slice(i, i + 20).join("\n"))).body.total, 20);
  }
  for (let i = 0; i < 60; i += 20) {
    assert.equal((await analyze(svc, lines.slice(i, i + 20).join("\n"))).body.total, 0);
  }
});

Deno.test("a deleted fact may come again", async () => {
  verifies("10.5-3");
  await using svc = await startRelayer();
  const { body } = await analyze(svc, NOTE);
  await svc.relayer.idle();
  await svc.send("DELETE", `/api/memories/${body.job_ids[0]}`);
  const again = await analyze(svc, NOTE);
  assert.deepEqual(again.body.facts.map(({ text }: Json) => text), [FACTS[0]?.[0]]);
});

Deno.test("facts are accepted all together or not at all", async () => {
  verifies("6-7");
  await using svc = await startRelayer({ config: { maxPendingJobs: 4 } });
  const refused = await analyze(svc, NOTE);
  assert.deepEqual([refused.status, refused.body.code], [503, "overloaded"]);
  assert.deepEqual(await listed(svc), []);
  await using small = await startRelayer({ config: { quotaBytes: 60 } });
  const full = await analyze(small, NOTE);
  assert.deepEqual([full.status, full.body.code], [402, "quota_exceeded"]);
  assert.deepEqual(await listed(small), []);
});

Deno.test("where the known facts cannot be compared, nothing is stored", async () => {
  verifies("10.5-3");
  let broken = false;
  const embedder = intercepted(memoryEmbedder(), {
    embed: (next, ...args) =>
      broken ? Promise.reject(new SvcError("embedding_unavailable")) : next(...args),
  });
  await using svc = await startRelayer({ backends: { embedder } });
  await analyze(svc, NOTE);
  await svc.relayer.idle();
  broken = true;
  const { status, body } = await analyze(svc, NOTE);
  assert.deepEqual([status, body.code], [503, "embedding_unavailable"]);
  assert.equal((await listed(svc)).length, 3);
});

Deno.test("a repeated 4-field analyze is one, also when nothing was found", async () => {
  verifies("4.4-17");
  await using svc = await startRelayer();
  const { seconds: timestamp } = svc.clock;
  for (const text of [NOTE, "How are you?"]) {
    const send = () => svc.post("/api/analyze", { text }, { form: 4, timestamp });
    const first = await send();
    await svc.relayer.idle();
    const again = await send();
    assert.equal(first.headers.get("idempotency-replayed"), null);
    assert.equal(again.headers.get("idempotency-replayed"), "true");
    assert.equal(again.text, first.text);
  }
});

Deno.test("the longest facts fit into the answer that is kept", async () => {
  verifies("10.5-5", "6-13");
  await using svc = await startRelayer();
  for (const [i, letters] of ["漢字", '"\\', "😀", "\u0001\u009f語"].entries()) {
    const lines = Array.from(
      { length: 20 },
      (_, n) => `${i}これは事実です${n}${letters.repeat(230)}です。`,
    );
    const headers = { "idempotency-key": `key${i}` };
    const send = () => svc.post("/api/analyze", { text: lines.join("\n") }, { headers });
    const first = await send();
    assert.deepEqual([first.status, first.body.total], [202, 20]);
    const again = await send();
    assert.equal(again.headers.get("idempotency-replayed"), "true");
    assert.equal(again.text, first.text);
  }
  await svc.relayer.idle();
});

Deno.test("an operator may refuse to analyze by rules", async () => {
  verifies("10.5-9");
  await using svc = await startRelayer({ config: { analyzeRequiresLlm: true } });
  const { status, body } = await analyze(svc, NOTE);
  assert.deepEqual([status, body.code], [503, "llm_disabled"]);
});
