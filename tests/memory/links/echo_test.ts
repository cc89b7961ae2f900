import assert from "node:assert/strict";
import { judgeEcho } from "../../../src/memory/links/echo.ts";
import { judgeRepetition } from "../../../src/memory/links/restatement.ts";
import { RecentlyRecalled } from "../../../src/memory/recall/recently_recalled.ts";
import { type Json, startRelayer, type TestRelayer } from "../../relayer_fixture.ts";
import { verifies } from "../../requirements.ts";

const FOLDING = { config: { deduplicate: true } };
const NOTE = "Lena moved in with us. My sister lives in a small house in Brno.";
const QUESTION = { query: "Where does my sister live?" };

/** Saves a text; answers the memory it is kept behind, and why. */
async function folded(svc: TestRelayer, text: string, key?: Json): Promise<Json> {
  const { body } = await svc.post("/api/remember", { text }, key === undefined ? {} : { key });
  await svc.relayer.idle();
  return (await svc.get(`/api/remember/${body.job_id}`)).body.folded;
}

Deno.test("what a key has just recalled and says again is kept behind it", async () => {
  verifies("10.1-20");
  await using svc = await startRelayer(FOLDING);
  const { body: { memory_id } } = await svc.post("/api/remember", { text: NOTE });
  const part = "My sister is living in a small house in Brno.";
  const less = "You mentioned that your sister lives in Brno.";
  assert.equal(await folded(svc, less), undefined, "nobody recalled it");
  await svc.post("/api/recall", QUESTION);
  const other = await svc.addKey(["read", "write"]);
  assert.equal(await folded(svc, part, other), undefined, "another key did");
  await svc.post("/api/ask", { question: QUESTION.query });
  assert.deepEqual(await folded(svc, "As noted, your sister lives in a small house."), {
    memory_id,
    reason: "echo",
  });
  assert.equal(await folded(svc, "You mentioned that your sister lives in Oslo."), undefined);
});

Deno.test("a sentence of what was recalled is known again", async () => {
  await using svc = await startRelayer(FOLDING);
  const { body: { memory_id } } = await svc.post("/api/remember", { text: NOTE });
  await svc.post("/api/recall", QUESTION);
  const found = await folded(svc, "My sister is living in a small house in Brno.");
  assert.deepEqual(found, { memory_id, reason: "recalled" });
});

Deno.test("an echo may say less, and nothing else", () => {
  const echoes: readonly (readonly [string, string])[] = [
    ["I keep my old bike in the cellar.", "You told me that you keep your old bike."],
    ["I bake rye bread with Ana in the old mill.", "As noted, you bake rye bread in the old mill."],
    ["My sister lives in a small house in Brno.", "You mentioned that your sister lives in Brno."],
    ["The tax papers are due. Ana drives the red van.", "I remember that Ana drives the red van."],
  ];
  for (const [older, newer] of echoes) {
    assert.ok(judgeEcho(older, newer), newer);
    assert.equal(judgeRepetition(older, newer), undefined, newer);
  }
  const different: readonly (readonly [string, string])[] = [
    ["I keep my old bike in the cellar.", "I keep my old bike."],
    ["I keep my old bike in the cellar.", "You said that you keep your bike in the cellar."],
    ["I only eat fish in Spain.", "You said that you eat fish in Spain."],
    ["I do not eat meat on trips.", "You said that you do not eat meat."],
    ["I am allergic to tree nuts.", "As noted, you are allergic to nuts."],
    ["We leave for Rome in October.", "As noted, you leave for Rome in November."],
    ["The gas bill rose in March.", "You mentioned that the gas bill rose in May."],
    ["The gas bill rose in March.", "You mentioned that the gas bill rose."],
    ["I take 20 mg in the morning.", "You told me that you take 30 mg in the morning."],
    ["I take pills at 7 in the evening.", "You told me that you take pills."],
    ["If it rains I cycle to the office.", "You mentioned that you cycle to the office."],
    ["Ana drives the red van with Ben.", "I remember that Ben drives the red van."],
    ["I lived in a small flat in Brno.", "You told me that you live in Brno."],
    ["I think my sister lives in Rome.", "You told me that you live in Rome."],
    ["My flight is at 7 pm.", "You mentioned that your flight is at 7 am."],
    ["I no longer work at Siemens.", "You mentioned that you work at Siemens."],
    ["My son works in the shop.", "You mentioned that your son is in the shop."],
    ["The dog of my sister lives in Brno.", "You told me that your sister lives in Brno."],
  ];
  for (const [older, newer] of different) assert.equal(judgeEcho(older, newer), undefined, newer);
});

Deno.test("an echo of one fact is none of another", async () => {
  const file = new URL("../../testdata/writes/tuning.json", import.meta.url);
  const { facts } = JSON.parse(await Deno.readTextFile(file));
  for (const { id, echo } of facts) {
    for (const other of facts) {
      if (other.id !== id) assert.equal(judgeEcho(other.fact, echo), undefined, echo);
    }
  }
});

Deno.test("it is known for ten minutes who was answered what, of the latest only", () => {
  let now = 0;
  const recalled = new RecentlyRecalled(() => now);
  const scope = { owner: "0x1", namespace: "default" };
  const has = (key: string, id: string) => recalled.has(scope, key, id, now);
  recalled.note(scope, "a", ["1"]);
  assert.ok(has("a", "1"));
  assert.ok(!has("b", "1"));
  assert.ok(!recalled.has({ ...scope, namespace: "other" }, "a", "1", now));
  assert.ok(!recalled.has(scope, "a", "1", -1), "what was accepted before that was no echo");
  now = 600_000;
  assert.ok(has("a", "1"));
  now++;
  assert.ok(!has("a", "1"));
  recalled.note(scope, "a", ["2"]);
  for (let i = 0; i < 64; i++) recalled.note(scope, "a", [`m${i}`]);
  assert.ok(!has("a", "2"));
  assert.ok(has("a", "m63"));
  for (let i = 0; i < 1000; i++) recalled.note(scope, `key${i}`, ["1"]);
  assert.ok(!has("a", "m63"));
  assert.ok(has("key999", "1"));
});
