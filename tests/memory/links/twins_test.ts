import assert from "node:assert/strict";
import { type Json, startRelayer, type TestRelayer } from "../../relayer_fixture.ts";
import { verifies } from "../../requirements.ts";
import { DurableRelayer } from "../durable.ts";

async function save(svc: TestRelayer, text: string, members: Json = {}): Promise<Json> {
  const { status, body } = await svc.post("/api/remember", { text, ...members });
  assert.equal(status, 202, JSON.stringify(body));
  await svc.relayer.idle();
  return body;
}

const count = async (svc: TestRelayer): Promise<number> =>
  (await svc.get("/api/memories?include=history")).body.total;

Deno.test("a text that is stored is answered with its memory, however it is spelled", async () => {
  verifies("10.1-13", "10.1-14");
  await using durable = await DurableRelayer.start({ config: { deduplicate: true } });
  const first = await save(durable.svc, "I am allergic to peanuts.");
  assert.equal(first.deduplicated, undefined);
  const check = async () => {
    for (const text of ["I am allergic to peanuts.", "  i AM allergic  to peanuts!! "]) {
      const again = await save(durable.svc, text, { importance: 1 });
      assert.equal(again.deduplicated, true, text);
      assert.equal(again.recallable, true);
      for (const name of ["memory_id", "id", "job_id"]) assert.equal(again[name], first.memory_id);
    }
    assert.equal(await count(durable.svc), 1);
    const { status, body } = await durable.svc.get(`/api/remember/${first.memory_id}`);
    assert.deepEqual([status, body.status, body.recallable], [200, "done", true]);
  };
  await check();
  // Also after a restart, and once its job is forgotten.
  await durable.restart();
  durable.clock.advance(400 * 86_400_000);
  await durable.restart();
  await check();
});

Deno.test("what differs, says more, is over, or is meant to be stored again is stored", async () => {
  verifies("10.1-13");
  await using svc = await startRelayer({ config: { deduplicate: true } });
  const first = await save(svc, "I live in Berlin");
  const later = new Date(Date.now() + 86_400_000).toISOString();
  const stored = async (text: string, members: Json = {}) => {
    const saved = await save(svc, text, members);
    assert.equal(saved.deduplicated, undefined, JSON.stringify([text, members]));
    return saved;
  };
  await stored("I live in Bern");
  await stored("I live in Berlin", { namespace: "other" });
  await stored("I live in Berlin", { metadata: { a: 1 } });
  await stored("I live in Berlin", { expires_at: later });
  await stored("I live in Berlin", { key: "me/home" });
  await stored("I live in Berlin", { deduplicate: false });
  assert.equal((await save(svc, "I live in Berlin")).deduplicated, true);
  const { body: { memories } } = await svc.get("/api/memories?limit=200");
  const ids = memories.filter(({ text }: Json) => text === "I live in Berlin")
    .map(({ memory_id }: Json) => memory_id);
  // Back again after having moved: the older ones are over, and do not count.
  await stored("I moved to Lisbon", { supersedes: ids.slice(0, 20) });
  const back = await stored("I live in Berlin");
  await svc.send("DELETE", `/api/memories/${back.memory_id}`);
  await stored("I live in Berlin");
  assert.notEqual(back.memory_id, first.memory_id);
});

Deno.test("owners, and keys that may not read, learn nothing of each other's texts", async () => {
  verifies("10.1-13", "10-14");
  await using svc = await startRelayer({ config: { deduplicate: true } });
  const first = await save(svc, "I like tea");
  const { key, account } = await svc.addAccount();
  const theirs = await svc.post("/api/remember", { text: "I like tea" }, {
    key,
    accountId: account.accountId,
  });
  assert.equal(theirs.body.deduplicated, undefined);
  const blind = await svc.addKey(["write"]);
  const blindly = await svc.post("/api/remember", { text: "I like tea" }, { key: blind });
  assert.equal(blindly.body.deduplicated, undefined);
  assert.notEqual(blindly.body.memory_id, first.memory_id);
  await using all = await startRelayer({ config: { deduplicate: false } });
  await save(all, "I like tea");
  assert.equal((await save(all, "I like tea")).deduplicated, undefined);
});
