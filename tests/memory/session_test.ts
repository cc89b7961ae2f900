import assert from "node:assert/strict";
import { assertError } from "../http/case.ts";
import { type Json, startRelayer, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { DurableRelayer } from "./durable.ts";

const said = async (svc: TestRelayer, query = ""): Promise<Json[]> =>
  (await svc.get(`/api/memories?order=oldest${query}`)).body.memories
    .map(({ text, session, position }: Json) => [text, session, position]);

Deno.test("where something was said comes back, of every kind of write", async () => {
  verifies("2-30", "10.5-14");
  await using svc = await startRelayer();
  const id = await svc.remember("I drink tea", { session: "a chat", position: 3 });
  await svc.post("/api/remember/bulk", {
    items: [{ text: "first", session: "bulk", position: 0 }, { text: "second" }],
  });
  await svc.relayer.idle();
  const { body: { results: [hit] } } = await svc.post("/api/recall", { query: "tea" });
  assert.deepEqual([hit.session, hit.position], ["a chat", 3]);
  await svc.send("PUT", `/api/memories/${id}`, { text: "I drink green tea", importance: 0.9 });
  await svc.relayer.idle();
  assert.deepEqual(await said(svc), [
    ["I drink green tea", "a chat", 3],
    ["first", "bulk", 0],
    ["second", undefined, undefined],
  ]);
  const text = "I live in Ghent. I am allergic to nuts.";
  await svc.post("/api/analyze", { text, namespace: "facts", session: "a letter" });
  await svc.post("/api/analyze", { text, namespace: "more" });
  await svc.relayer.idle();
  const facts = await said(svc, "&namespace=facts");
  assert.deepEqual(
    facts.map(([, ...where]) => where),
    Array(facts.length).fill(["a letter", undefined]),
  );
  const [[, session], ...others] = await said(svc, "&namespace=more");
  assert.match(session, /^[0-9a-f-]{36}$/);
  assert.ok(others.length > 0 && others.every(([, other]) => other === session));
});

Deno.test("a session and a position that are none are refused", async () => {
  verifies("10.1-19", "16-20");
  await using svc = await startRelayer();
  const refused = async (members: Json, field: string, status = 400) =>
    assertError(
      await svc.post("/api/remember", { text: "x", ...members }),
      [status, status === 400 ? "invalid_parameter" : "invalid_request"],
      { field },
    );
  await refused({ session: "s".repeat(257) }, "session");
  await refused({ session: " " }, "session");
  await refused({ session: 7 }, "session", 422);
  await refused({ session: "s", position: 1.5 }, "position");
  await refused({ session: "s", position: -1 }, "position");
  await refused({ session: "s", position: 1_000_000_001 }, "position");
  await refused({ position: 1 }, "position");
  const most = { text: "x", session: "s".repeat(256), position: 1_000_000_000 };
  assert.equal((await svc.post("/api/remember", most)).status, 202);
});

Deno.test("sessions outlive restarts, a lost index, a restore, an export and an import", async () => {
  verifies("2-30");
  await using from = await DurableRelayer.start();
  await from.svc.remember("how old is she", { session: "a chat", position: 0 });
  await from.svc.remember("nine", { session: "a chat", position: 1 });
  await from.svc.remember("I drink tea");
  const expected = [
    ["how old is she", "a chat", 0],
    ["nine", "a chat", 1],
    ["I drink tea", undefined, undefined],
  ];
  assert.deepEqual(await said(from.svc), expected);
  await from.restart({}, (dir) => Deno.remove(`${dir}/index.db`));
  await from.svc.post("/api/restore", { namespace: "default" });
  assert.deepEqual(await said(from.svc), expected);
  const { text } = await from.svc.post("/api/export", {});
  await using to = await DurableRelayer.start({ clock: from.clock });
  const headers = { headers: { "content-type": "application/x-ndjson" } };
  assert.equal((await to.svc.send("POST", "/api/import", text, headers)).body.accepted, 3);
  await to.svc.relayer.idle();
  assert.deepEqual(await said(to.svc), expected);
});

Deno.test("a reply is found by the question that it follows in its session", async () => {
  verifies("10.6-42");
  await using svc = await startRelayer();
  const session = "a chat";
  await svc.remember("Did you get the job in Leeds?", { session, position: 4 });
  await svc.remember("first of April", { session, position: 5 });
  await svc.remember("the rent is 900");
  const texts = async (more: Json = {}): Promise<string[]> =>
    (await svc.post("/api/recall", { query: "the job in Leeds", ...more })).body.results
      .map(({ text }: Json) => text);
  const found = await texts();
  assert.ok(found.indexOf("first of April") < found.indexOf("the rent is 900"), found.join());
  const weighed = await texts({ scoring_weights: { semantic: 1 } });
  assert.deepEqual([...weighed].sort(), [...found].sort());
  assert.notDeepEqual(weighed, found);
  // The order alone follows what stands beside a memory.
  const { body: { results } } = await svc.post("/api/recall", { query: "the job in Leeds" });
  const score = (text: string): number => results.find((hit: Json) => hit.text === text).score;
  assert.ok(score("first of April") < score("Did you get the job in Leeds?"));
});
