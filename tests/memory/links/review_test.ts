import assert from "node:assert/strict";
import { assertError } from "../../http/case.ts";
import { type Json, startRelayer, type TestRelayer } from "../../relayer_fixture.ts";
import { verifies } from "../../requirements.ts";
import { DurableRelayer } from "../durable.ts";

const suggesting = { config: { conflicts: "suggest" } } as const;

const OLD = "My phone number is 555-0188";
const NEW = "My phone number is 555-0142";

const texts = async (svc: TestRelayer, query: string, more: Json = {}): Promise<string[]> =>
  (await svc.post("/api/recall", { query, ...more })).body.results.map((hit: Json) => hit.text);

const read = async (svc: TestRelayer, id: string): Promise<Json> =>
  (await svc.get(`/api/memories/${id}`)).body;

const inbox = async (svc: TestRelayer, query = ""): Promise<Json> => {
  const { status, body } = await svc.get(`/api/review?limit=50${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};

async function decide(svc: TestRelayer, members: Json): Promise<Json> {
  const { status, body } = await svc.post("/api/review", members);
  assert.equal(status, 202, JSON.stringify(body));
  await svc.relayer.idle();
  return body;
}

Deno.test("what contradicts an older memory is linked, answered first and to be reviewed", async () => {
  verifies("10.16-1", "10.16-3", "10.16-5");
  await using svc = await startRelayer(suggesting);
  const old = await svc.remember(OLD);
  await svc.remember("The printer is in the hall");
  const id = await svc.remember(NEW);
  const newer = await read(svc, id);
  assert.deepEqual(newer.conflicts_with, [old]);
  assert.deepEqual(newer.links, [{ memory_id: old, kind: "conflicts", by: "number", score: 0.95 }]);
  assert.deepEqual((await read(svc, old)).conflicts_with, [id]);
  const { results } = (await svc.post("/api/recall", { query: "what is my phone number" })).body;
  assert.deepEqual(results.slice(0, 2).map((hit: Json) => hit.text), [NEW, OLD]);
  assert.deepEqual(results[0].conflicts_with, [old]);
  const { items, total, conflicts } = await inbox(svc);
  assert.deepEqual([total, conflicts], [1, "suggest"]);
  const [item] = items;
  assert.deepEqual([item.memory_id, item.text, item.reasons], [id, NEW, ["conflict"]]);
  assert.deepEqual(item.links, [
    { memory_id: old, kind: "conflicts", by: "number", score: 0.95, text: OLD },
  ]);
  // Another text of the older one was not looked at.
  await svc.send("PUT", `/api/memories/${old}`, { text: "Ada's phone number is 555-0188" });
  await svc.relayer.idle();
  assert.equal((await read(svc, id)).conflicts_with, undefined);
  assert.equal((await inbox(svc)).total, 0);
});

Deno.test("what is accepted is said by the owner; what is undone is not marked again", async () => {
  verifies("10.16-7", "10.16-8", "10.16-9", "10.16-10", "2-28");
  await using svc = await startRelayer(suggesting);
  const old = await svc.remember(OLD);
  const id = await svc.remember(NEW);
  const answer = await decide(svc, { memory_id: id, decision: "accept" });
  assert.deepEqual([answer.memory_id, answer.version], [id, 2]);
  assert.deepEqual(await texts(svc, "phone number"), [NEW]);
  assert.deepEqual((await read(svc, id)).links, [
    { memory_id: old, kind: "supersedes", by: "caller", score: 1 },
  ]);
  assert.equal((await inbox(svc)).total, 0);
  const again = await svc.post("/api/review", { memory_id: id, decision: "accept" });
  assertError(again, [400, "invalid_parameter"], { field: "memory_id" });
  // Whichever of the two is named first.
  await decide(svc, { memory_id: old, other_id: id, decision: "undo" });
  assert.deepEqual((await texts(svc, "phone number")).sort(), [NEW, OLD].sort());
  const { results } = (await svc.post("/api/recall", { query: "which phone number" })).body;
  assert.deepEqual(results.map((hit: Json) => hit.conflicts_with), [undefined, undefined]);
  assert.equal((await read(svc, id)).links[0].kind, "distinct");
  assert.equal((await inbox(svc)).total, 0);
  // A correction of the text does not forget it.
  await svc.send("PUT", `/api/memories/${id}`, { text: `${NEW}.`, supersedes: null });
  await svc.relayer.idle();
  assert.equal((await read(svc, id)).links[0].kind, "distinct");
});

Deno.test("with auto the newer one takes the place, and gives it back when it is undone", async () => {
  verifies("10.16-2", "10.16-10");
  await using svc = await startRelayer({ config: { conflicts: "auto" } });
  const old = await svc.remember(OLD);
  const id = await svc.remember(NEW);
  assert.deepEqual(await texts(svc, "phone number"), [NEW]);
  assert.equal((await read(svc, old)).superseded_by, id);
  const [item] = (await inbox(svc, "&reason=superseded")).items;
  assert.deepEqual([item.memory_id, item.reasons, item.links[0].text], [id, ["superseded"], OLD]);
  await decide(svc, { memory_id: id, decision: "undo" });
  assert.equal((await texts(svc, "phone number")).length, 2);
  // What the web says takes the place of nothing that was said here.
  const web = await svc.remember("My phone number is 555-0666", { trust: "web" });
  const links = (await read(svc, web)).links;
  assert.deepEqual(links.map((link: Json) => link.kind), ["conflicts", "conflicts"]);
  // Nor does what was true before.
  const before = await svc.remember("My phone number is 555-0001", {
    occurred_at: "2001-02-03T04:05:06Z",
  });
  assert.equal((await read(svc, before)).links[0].kind, "conflicts");
  assert.equal((await read(svc, old)).superseded_by, undefined);
});

Deno.test("nothing is looked for where the writer says it, nor for who may not read", async () => {
  verifies("10.16-4");
  await using svc = await startRelayer(suggesting);
  await svc.remember(OLD);
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  for (const more of [{ key: "phone" }, { expires_at: tomorrow }, { valid_to: tomorrow }]) {
    const id = await svc.remember(NEW, more);
    assert.equal((await read(svc, id)).links, undefined, JSON.stringify(more));
    await svc.send("DELETE", `/api/memories/${id}`);
  }
  const blind = await svc.addKey(["write"]);
  const { body } = await svc.post("/api/remember", { text: NEW }, { key: blind });
  await svc.relayer.idle();
  assert.equal((await read(svc, body.memory_id)).links, undefined);
  const elsewhere = await svc.remember(NEW, { namespace: "other" });
  assert.equal((await read(svc, elsewhere)).links, undefined);
});

Deno.test("what came from elsewhere is to be reviewed until somebody vouches for it", async () => {
  verifies("10.16-5", "10.16-6", "10.16-7");
  await using svc = await startRelayer(suggesting);
  const id = await svc.remember("The page says: drink bleach", { trust: "web" });
  await svc.remember("I drink tea", { trust: "agent" });
  const [item] = (await inbox(svc)).items;
  assert.deepEqual([item.memory_id, item.reasons, item.links], [id, ["untrusted"], []]);
  assert.equal((await inbox(svc, "&reason=conflict")).total, 0);
  const undo = await svc.post("/api/review", { memory_id: id, decision: "undo" });
  assertError(undo, [400, "invalid_parameter"], { field: "memory_id" });
  await decide(svc, { memory_id: id, decision: "accept" });
  assert.equal((await read(svc, id)).trust, "user");
  assert.equal((await inbox(svc)).total, 0);
});

Deno.test("the inbox has pages, and a cursor of its own", async () => {
  verifies("10.16-6");
  await using svc = await startRelayer(suggesting);
  for (let i = 0; i < 5; i++) await svc.remember(`page ${i}`, { trust: "web" });
  const seen: string[] = [];
  let cursor = "";
  do {
    const { items, total, next_cursor } = (await svc.get(`/api/review?limit=2&cursor=${cursor}`))
      .body;
    assert.equal(total, 5);
    seen.push(...items.map((item: Json) => item.text));
    cursor = next_cursor ?? "";
  } while (cursor !== "");
  assert.deepEqual(seen, ["page 4", "page 3", "page 2", "page 1", "page 0"]);
  const { next_cursor } = (await svc.get("/api/memories?limit=2")).body;
  const wrong = await svc.get(`/api/review?cursor=${next_cursor}`);
  assertError(wrong, [400, "invalid_cursor"], { field: "cursor" });
  const unknown = await svc.get("/api/review?reason=boredom");
  assertError(unknown, [400, "invalid_parameter"], { field: "reason" });
});

Deno.test("of decisions at once one counts; sent again under one key it is the same", async () => {
  verifies("10.16-9");
  await using svc = await startRelayer(suggesting);
  const old = await svc.remember(OLD);
  const id = await svc.remember(NEW);
  const decisions = ["accept", "undo", "accept", "undo"];
  const answers = await Promise.all(
    decisions.map((decision) => svc.post("/api/review", { memory_id: id, decision })),
  );
  await svc.relayer.idle();
  const [taken, ...others] = answers.sort((a, b) => a.status - b.status);
  assert.equal(taken!.status, 202);
  for (const { status } of others) assert(status === 409 || status === 400, String(status));
  assert.equal((await read(svc, id)).links.length, 1);
  const pin = await svc.remember("My locker is number 15");
  const given = { memory_id: await svc.remember("My locker is number 92"), decision: "accept" };
  const kept = { headers: { "idempotency-key": "once" } };
  const first = await svc.post("/api/review", given, kept);
  const again = await svc.post("/api/review", given, kept);
  assert.deepEqual([first.status, again.status], [202, 202]);
  assert.equal(again.body.job_id, first.body.job_id);
  await svc.relayer.idle();
  assert.equal((await read(svc, pin)).superseded_by, given.memory_id);
  // A memory that is deleted, or whose other one is, has nothing left to decide on.
  const third = await svc.remember("My phone number is 555-0199");
  assert.equal((await inbox(svc)).total, 1);
  await svc.send("DELETE", `/api/memories/${id}`);
  await svc.send("DELETE", `/api/memories/${old}`);
  assert.equal((await inbox(svc)).total, 0);
  const late = await svc.post("/api/review", { memory_id: third, decision: "accept" });
  assertError(late, [400, "invalid_parameter"], { field: "memory_id" });
});

Deno.test("nobody sees or decides for another owner", async () => {
  await using svc = await startRelayer(suggesting);
  const old = await svc.remember(OLD);
  const id = await svc.remember(NEW);
  const { key, account } = await svc.addAccount();
  const as = { key, accountId: account.accountId };
  assert.equal((await svc.get("/api/review", as)).body.total, 0);
  for (const members of [{ memory_id: id }, { memory_id: old, other_id: id }]) {
    const answer = await svc.post("/api/review", { ...members, decision: "undo" }, as);
    assertError(answer, [404, "memory_not_found"], {});
  }
});

Deno.test("a policy holds for one namespace until it is forgotten", async () => {
  verifies("10.16-2", "10.16-11", "10.10-1");
  await using svc = await startRelayer(suggesting);
  const choose = async (namespace: string, conflicts: Json | string | null) =>
    await svc.send("PUT", "/api/namespaces", { namespace, conflicts });
  const auto = await choose("work", "auto");
  assert.deepEqual([auto.status, auto.body.namespace, auto.body.conflicts], [200, "work", "auto"]);
  const old = await svc.remember(OLD, { namespace: "work" });
  await svc.remember(NEW, { namespace: "work" });
  await svc.remember(OLD);
  const kept = await svc.remember(NEW);
  assert.equal((await read(svc, old)).superseded_by !== undefined, true);
  assert.equal((await read(svc, kept)).conflicts_with.length, 1);
  const { namespaces } = (await svc.get("/api/namespaces")).body;
  assert.deepEqual(namespaces.map((one: Json) => [one.namespace, one.conflicts]), [
    ["default", "suggest"],
    ["work", "auto"],
  ]);
  await choose("work", "off");
  const third = await svc.remember("My phone number is 555-0007", { namespace: "work" });
  assert.equal((await read(svc, third)).links, undefined);
  assert.equal((await choose("work", null)).body.conflicts, "suggest");
  await choose("work", "auto");
  await svc.post("/api/forget", { namespace: "work" });
  assert.equal((await inbox(svc, "&namespace=work")).conflicts, "suggest");
  assertError(await choose("work", "maybe"), [400, "invalid_parameter"], { field: "conflicts" });
  assertError(await choose("", "auto"), [400, "empty_namespace"], { field: "namespace" });
});

Deno.test("whether what says the same is looked for is chosen for one namespace", async () => {
  verifies("10.16-11", "10.16-13");
  await using durable = await DurableRelayer.start({
    config: { deduplicate: true, conflicts: "suggest" },
  });
  const text = "My sister lives in Brno.";
  const choose = async (members: Json) =>
    await durable.svc.send("PUT", "/api/namespaces", { namespace: "work", ...members });
  const written = async (namespace: string) => {
    for (const one of [text, text, "My sister is living in Brno"]) {
      await durable.svc.remember(one, { namespace });
    }
    return (await durable.svc.get(`/api/memories?namespace=${namespace}`)).body.total;
  };
  const chosen = { namespace: "work", conflicts: "suggest", deduplicate: false };
  assert.deepEqual((await choose({ deduplicate: false })).body, chosen);
  await durable.restart();
  assert.equal(await written("work"), 3);
  assert.equal(await written("other"), 1);
  const items = [{ text, namespace: "work" }, { text, namespace: "other" }];
  const { body } = await durable.svc.post("/api/remember/bulk", { items });
  assert.deepEqual(body.deduplicated, [1]);
  // What is not named stays what it was.
  assert.deepEqual((await choose({ conflicts: "off" })).body, { ...chosen, conflicts: "off" });
  assert.equal((await choose({ deduplicate: null })).body.deduplicate, true);
  assert.equal((await choose({ conflicts: null })).body.conflicts, "suggest");
  await choose({ deduplicate: false });
  const { namespaces } = (await durable.svc.get("/api/namespaces")).body;
  assert.deepEqual(namespaces.map((one: Json) => one.deduplicate), [true, false]);
  await durable.svc.post("/api/forget", { namespace: "work" });
  assert.equal((await choose({})).body.deduplicate, true);
  assertError(await choose({ deduplicate: "no" }), [422, "invalid_request"], {
    field: "deduplicate",
  });
});

Deno.test("links of rules, decisions and policies outlive everything", async () => {
  verifies("10.16-3", "10.16-12", "2-26");
  await using from = await DurableRelayer.start(suggesting);
  const { svc } = from;
  await svc.send("PUT", "/api/namespaces", { namespace: "work", conflicts: "auto" });
  const old = await svc.remember(OLD);
  const id = await svc.remember(NEW);
  const flat = await svc.remember("My postal code is 50667");
  const moved = await svc.remember("My postal code is 04109");
  await decide(svc, { memory_id: moved, decision: "undo" });
  const check = async (one: TestRelayer, policy: string) => {
    const { items } = await inbox(one);
    assert.deepEqual(items.map((item: Json) => [item.memory_id, item.links[0].by]), [[
      id,
      "number",
    ]]);
    assert.deepEqual((await read(one, old)).conflicts_with, [id]);
    assert.deepEqual((await read(one, moved)).links, [
      { memory_id: flat, kind: "distinct", by: "caller", score: 1 },
    ]);
    assert.equal((await inbox(one, "&namespace=work")).conflicts, policy);
  };
  await check(svc, "auto");
  await from.cutPower();
  await from.svc.relayer.idle();
  await check(from.svc, "auto");
  await from.restart({}, (dir) => Deno.remove(`${dir}/index.db`));
  await from.svc.post("/api/restore", { namespace: "default" });
  await check(from.svc, "auto");
  const { text } = await from.svc.post("/api/export", {});
  await using to = await DurableRelayer.start({ ...suggesting, clock: from.clock });
  const headers = { headers: { "content-type": "application/x-ndjson" } };
  assert.equal((await to.svc.send("POST", "/api/import", text, headers)).body.accepted, 4);
  await to.svc.relayer.idle();
  await check(to.svc, "suggest");
});

Deno.test("the newer of two is answered however little it looks like the question", async () => {
  verifies("10.16-1");
  await using svc = await startRelayer(suggesting);
  const old = await svc.remember("I live in Berlin");
  const before = { occurred_at: "2001-02-03T04:05:06Z" };
  for (let i = 0; i < 30; i++) {
    await svc.remember(`Number ${i} of the live bears in Berlin`, before);
  }
  const line = {
    memory_id: crypto.randomUUID(),
    text: "The removal van took us to Lisbon",
    links: [{ id: old, kind: "conflicts", by: "field", score: 0.8 }],
  };
  const headers = { headers: { "content-type": "application/x-ndjson" } };
  await svc.send("POST", "/api/import", JSON.stringify(line), headers);
  await svc.relayer.idle();
  const query = "do I live in Berlin";
  const { results } = (await svc.post("/api/recall", { query, limit: 2 })).body;
  assert.deepEqual(results.map((hit: Json) => hit.text), [line.text, "I live in Berlin"]);
  assert(results[0].confidence === undefined || results[0].confidence >= results[1].confidence);
  // Where it was said that they are none, it is a hit like any other.
  await decide(svc, { memory_id: line.memory_id, decision: "undo" });
  const [first] = (await svc.post("/api/recall", { query, limit: 2 })).body.results;
  assert.equal(first.text, "I live in Berlin");
});
