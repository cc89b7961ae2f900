import assert from "node:assert/strict";
import { SvcError } from "../../../src/errors.ts";
import type { VectorStore } from "../../../src/interfaces/mod.ts";
import { type Json, startRelayer, type TestRelayer } from "../../relayer_fixture.ts";
import { verifies } from "../../requirements.ts";
import { DurableRelayer } from "../durable.ts";
import { Gate, intercepted } from "../intercepted.ts";

const FOLDING = { config: { deduplicate: true } };

/** Two ways to say the same. */
const FIRST = "My sister lives in Brno.";
const AGAIN = "My sister is living in Brno";

async function save(svc: TestRelayer, text: string, members: Json = {}): Promise<Json> {
  const { status, body } = await svc.post("/api/remember", { text, ...members });
  assert.equal(status, 202, JSON.stringify(body));
  await svc.relayer.idle();
  return body;
}

async function listed(svc: TestRelayer, include = "present"): Promise<Json[]> {
  const { body } = await svc.get(`/api/memories?order=oldest&include=${include}`);
  return body.memories;
}

const shown = async (svc: TestRelayer) => (await listed(svc)).map(({ text }) => text);

/** Checks that one memory stands for another one, of which it is the first. */
async function isFolded(svc: TestRelayer, first: string, again: string): Promise<void> {
  assert.deepEqual(await shown(svc), [FIRST]);
  const all = await listed(svc, "history");
  assert.deepEqual(all.map(({ memory_id }) => memory_id), [first, again]);
  assert.deepEqual([all[0].restated, all[1].restates], [1, first]);
  assert.deepEqual(all[0].restatements, [again]);
  assert.equal(all[0].restated_at, all[1].created_at);
  const { body: job } = await svc.get(`/api/remember/${again}`);
  assert.deepEqual(job.folded, { memory_id: first, reason: "same_words" });
  const { body: { results: jobs } } = await svc.post("/api/remember/bulk/status", {
    job_ids: [first, again],
  });
  assert.deepEqual(jobs.map(({ folded }: Json) => folded?.memory_id), [undefined, first]);
  const { body } = await svc.post("/api/recall", { query: "where does my sister live?" });
  assert.deepEqual(body.results.map(({ text }: Json) => text), [FIRST]);
  assert.deepEqual(body.results[0].restatements, [again]);
  const { links } = (await svc.get(`/api/memories/${again}`)).body;
  assert.deepEqual(links, [{ memory_id: first, kind: "restates", by: "same_words", score: 1 }]);
}

Deno.test("what says the same in other words is kept behind the memory that is there", async () => {
  verifies("2-27", "10.1-15");
  await using durable = await DurableRelayer.start(FOLDING);
  const first = await save(durable.svc, FIRST);
  const again = await save(durable.svc, AGAIN);
  assert.notEqual(again.memory_id, first.memory_id);
  await isFolded(durable.svc, first.memory_id, again.memory_id);
  await durable.restart();
  await isFolded(durable.svc, first.memory_id, again.memory_id);
  // Rebuilt from what is stored.
  await durable.restart({}, (dir) => Deno.remove(`${dir}/index.db`));
  await durable.svc.post("/api/restore", { namespace: "default" });
  await isFolded(durable.svc, first.memory_id, again.memory_id);
  // What says more stands for itself, behind nothing.
  await save(durable.svc, "My brother is living in Brno");
  assert.equal((await listed(durable.svc)).length, 2);
});

Deno.test("what says more than its text, or is meant to stand for itself, does", async () => {
  verifies("10.1-15");
  const variants: Json[] = [
    { metadata: { a: 1 } },
    { key: "sister/home" },
    { expires_at: new Date(Date.now() + 86_400_000).toISOString() },
    { valid_from: "2020-01-01T00:00:00Z" },
    { deduplicate: false },
    { namespace: "other" },
  ];
  for (const members of variants) {
    await using svc = await startRelayer(FOLDING);
    await save(svc, FIRST);
    const { memory_id } = await save(svc, AGAIN, members);
    const { links, restates } = (await svc.get(`/api/memories/${memory_id}`)).body;
    assert.deepEqual([links, restates], [undefined, undefined], JSON.stringify(members));
  }
  await using off = await startRelayer({ config: { deduplicate: false } });
  await save(off, FIRST);
  await save(off, AGAIN);
  assert.deepEqual(await shown(off), [FIRST, AGAIN]);
});

Deno.test("nothing stands for what is surer, of another day, or superseded by the writer", async () => {
  await using svc = await startRelayer(FOLDING);
  const first = await save(svc, FIRST, { trust: "web", occurred_at: "2020-01-01T00:00:00Z" });
  await save(svc, AGAIN, { trust: "user" });
  assert.deepEqual(await shown(svc), [FIRST, AGAIN]);
  await save(svc, "My sister's living in Brno", { occurred_at: "2021-01-01T00:00:00Z" });
  assert.equal((await listed(svc)).length, 2, "the user's own statement has no day");
  await save(svc, "In Brno my sister lives", { supersedes: [first.memory_id] });
  const texts = await shown(svc);
  assert.ok(texts.includes("In Brno my sister lives"), JSON.stringify(texts));
});

Deno.test("a memory whose representative is over, or has an end, is seen", async () => {
  await using svc = await startRelayer(FOLDING);
  const first = await save(svc, FIRST);
  await save(svc, "My sister moved to Oslo", { supersedes: [first.memory_id] });
  await save(svc, AGAIN);
  assert.deepEqual(await shown(svc), ["My sister moved to Oslo", AGAIN]);
});

Deno.test("keys that may not read learn nothing of what is there", async () => {
  await using svc = await startRelayer(FOLDING);
  await save(svc, FIRST);
  const blind = await svc.addKey(["write"]);
  const { body } = await svc.post("/api/remember", { text: AGAIN }, { key: blind });
  await svc.relayer.idle();
  assert.equal((await svc.get(`/api/memories/${body.memory_id}`)).body.restates, undefined);
  // Nor of what was found for others.
  const { memory_id } = await save(svc, "My sister's living in Brno");
  assert.ok((await svc.get(`/api/remember/${memory_id}`)).body.folded);
  const { body: job } = await svc.send("GET", `/api/remember/${memory_id}`, undefined, {
    key: blind,
  });
  assert.equal(job.folded, undefined);
});

Deno.test("a power cut between what is saved and what is indexed keeps the links", async () => {
  const gate = new Gate();
  const vectorStore = (store: VectorStore) =>
    intercepted(store, {
      upsert: async (next, ...args) => {
        await gate.pass();
        await next(...args);
      },
    });
  await using durable = await DurableRelayer.start({ ...FOLDING, wrap: { vectorStore } });
  const first = await save(durable.svc, FIRST);
  gate.close();
  const again = await durable.svc.post("/api/remember", { text: AGAIN });
  await gate.reached;
  // Whatever the next attempt would find: the links were saved with the record.
  let searched = 0;
  const cipher = (other: Json) =>
    intercepted(other, {
      open: (next: Json, ...args: Json[]) => {
        searched++;
        return next(...args);
      },
    });
  await durable.cutPower({ wrap: { cipher } });
  gate.open();
  await durable.svc.relayer.idle();
  assert.equal(searched, 0);
  await isFolded(durable.svc, first.memory_id, again.body.memory_id);
});

Deno.test("a comparison that fails leaves a memory without links, and no failed job", async () => {
  verifies("10.1-16");
  let failing = false;
  const cipher = (other: Json) =>
    intercepted(other, {
      open: (next: Json, ...args: Json[]) => {
        if (failing) throw new SvcError("key_service_unavailable");
        return next(...args);
      },
    });
  await using durable = await DurableRelayer.start({ ...FOLDING, wrap: { cipher } });
  await save(durable.svc, FIRST);
  failing = true;
  const { memory_id } = await save(durable.svc, AGAIN);
  failing = false;
  const { links, status } = (await durable.svc.get(`/api/memories/${memory_id}`)).body;
  assert.deepEqual([links, status], [undefined, "done"]);
});

Deno.test("a long text that is sent again with a change takes the older one's place", async () => {
  await using svc = await startRelayer(FOLDING);
  const rules = (day: string) =>
    `# House rules\n\n${
      Array.from({ length: 30 }, (_, i) => `Rule ${i} is about room ${i + 7}.`).join("\n")
    }\n\nThe site is reset each ${day}.`;
  const first = await save(svc, rules("Sunday"));
  const again = await save(svc, rules("Saturday"));
  assert.deepEqual(await shown(svc), [rules("Saturday")]);
  assert.equal((await listed(svc, "history"))[0].superseded_by, again.memory_id);
  // What an agent says takes nothing from what the user said.
  await save(svc, rules("Friday"), { trust: "agent" });
  assert.deepEqual(await shown(svc), [rules("Saturday"), rules("Friday")]);
  await svc.send("DELETE", `/api/memories/${again.memory_id}`);
  assert.equal((await shown(svc)).length, 2);
  assert.equal((await listed(svc)).some(({ memory_id }) => memory_id === first.memory_id), true);
});

Deno.test("what says the same is deleted with the memory that stands for it", async () => {
  verifies("10.9-32");
  await using durable = await DurableRelayer.start(FOLDING);
  const { svc } = durable;
  const first = await save(svc, FIRST);
  const again = await save(svc, AGAIN);
  const third = await save(svc, "As noted, your sister lives in Brno");
  const other = await save(svc, "My brother lives in Brno.");
  // One of them alone goes alone.
  const alone = await svc.send("DELETE", `/api/memories/${again.memory_id}`);
  assert.equal(alone.body.restatements, undefined);
  assert.equal((await listed(svc)).length, 2);
  const { status, body } = await svc.send("DELETE", `/api/memories/${first.memory_id}`);
  assert.deepEqual([status, body.restatements], [200, [third.memory_id]]);
  const { memory_ids } = JSON.parse(body.receipt.statement);
  assert.deepEqual(memory_ids.sort(), [first.memory_id, third.memory_id].sort());
  for (const step of [() => {}, () => durable.restart()]) {
    await step();
    const left = await listed(durable.svc, "history");
    assert.deepEqual(left.map(({ memory_id }) => memory_id), [other.memory_id]);
  }
  await durable.restart({}, (dir) => Deno.remove(`${dir}/index.db`));
  await durable.svc.post("/api/restore", { namespace: "default" });
  assert.equal((await listed(durable.svc, "history")).length, 1);
});

Deno.test("a memory that is corrected stands for itself, and a corrected one for what it said", async () => {
  verifies("2-27");
  await using svc = await startRelayer(FOLDING);
  const first = await save(svc, FIRST);
  const again = await save(svc, AGAIN);
  await svc.send("PUT", `/api/memories/${first.memory_id}`, { text: "My sister lives in Oslo." });
  await svc.relayer.idle();
  assert.deepEqual(await shown(svc), ["My sister lives in Oslo."]);
  await svc.send("PUT", `/api/memories/${again.memory_id}`, { text: "My niece lives in Brno." });
  await svc.relayer.idle();
  assert.deepEqual(await shown(svc), ["My sister lives in Oslo.", "My niece lives in Brno."]);
});

Deno.test("a bulk stores what is there, or comes twice, once", async () => {
  verifies("10.3-9");
  await using svc = await startRelayer(FOLDING);
  const first = await save(svc, FIRST);
  const items = ["my sister lives in brno", "I like tea", "I like rice", "I like tea!"]
    .map((text) => ({ text }));
  const { status, body } = await svc.post("/api/remember/bulk", { items });
  assert.equal(status, 202);
  assert.deepEqual([body.total, body.deduplicated], [4, [0, 3]]);
  assert.equal(body.job_ids[0], first.memory_id);
  assert.equal(body.job_ids[3], body.job_ids[1]);
  await svc.relayer.idle();
  assert.deepEqual(await shown(svc), [FIRST, "I like tea", "I like rice"]);
  const jobs = await svc.post("/api/remember/bulk/status", { job_ids: body.job_ids });
  assert.deepEqual(jobs.body.results.map(({ status }: Json) => status), Array(4).fill("done"));
  const again = await svc.post("/api/remember/bulk", { items });
  assert.deepEqual(again.body.deduplicated, [0, 1, 2, 3]);
  assert.deepEqual(again.body.job_ids, body.job_ids);
  // The place that an error names is that of the item.
  const secret = [...items, { text: "my password is hunter2-Xk9!" }];
  const refused = await svc.post("/api/remember/bulk", { items: secret });
  assert.deepEqual([refused.status, refused.body.field], [400, "items[4].text"]);
  const all = await svc.post("/api/remember/bulk", { items, deduplicate: false });
  assert.equal(all.body.deduplicated, undefined);
  await svc.relayer.idle();
  assert.equal((await listed(svc)).length, 7);
});

Deno.test("what was contradicted since and is said again is seen, unless it is an echo", async () => {
  verifies("10.1-17");
  await using svc = await startRelayer({ config: { deduplicate: true, conflicts: "suggest" } });
  const first = await save(svc, "My phone number is 555-0188.");
  const moved = await save(svc, "My phone number is 555-0142.");
  const { conflicts_with } = (await svc.get(`/api/memories/${moved.memory_id}`)).body;
  assert.deepEqual(conflicts_with, [first.memory_id]);
  await save(svc, "You mentioned that your phone number is 555-0188.");
  assert.equal((await listed(svc)).length, 2);
  const back = await save(svc, "My phone number is 555-0188");
  assert.equal(back.deduplicated, undefined);
  assert.equal((await listed(svc)).length, 3);
});

Deno.test("items of one request, and texts that arrive at once, are compared with each other", async () => {
  verifies("10.1-21");
  await using svc = await startRelayer(FOLDING);
  const texts = [
    FIRST,
    "My brother lives in Brno.",
    AGAIN,
    "You mentioned that your sister lives in Brno.",
    "My sister lived in Brno.",
  ];
  const { body } = await svc.post("/api/remember/bulk", { items: texts.map((text) => ({ text })) });
  await svc.relayer.idle();
  assert.equal(body.deduplicated, undefined, "each is stored");
  assert.deepEqual(await shown(svc), [texts[0], texts[1], texts[4]]);
  assert.equal((await listed(svc))[0].restated, 2);
  const at = ["at once", "all together"].flatMap((when) => [
    `The choir sings ${when}.`,
    `As noted, the choir sings ${when}.`,
  ]);
  await Promise.all(at.map((text) => svc.post("/api/remember", { text, namespace: "choir" })));
  await svc.relayer.idle();
  assert.equal((await svc.get("/api/memories?namespace=choir")).body.total, 2);
  // Who asks for each to stand for itself has it so.
  const items = [FIRST, AGAIN].map((text) => ({ text, namespace: "apart" }));
  await svc.post("/api/remember/bulk", { items, deduplicate: false });
  await svc.relayer.idle();
  assert.equal((await svc.get("/api/memories?namespace=apart")).body.total, 2);
});
