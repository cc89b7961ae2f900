import assert from "node:assert/strict";
import fc from "fast-check";
import { verifies } from "../../requirements.ts";
import { type Json, startRelayer, TestClock } from "../../relayer_fixture.ts";
import { newerFirst } from "../../../src/memory/recall/newer_first.ts";

/** Texts in the order that is answered; each is given with its score and its time. */
function ordered(query: string, ...hits: readonly [text: string, rank: number, start: number][]) {
  const { order } = newerFirst(query, hits.map(([text, rank, start]) => ({ text, rank, start })));
  return order.map((at) => hits[at]![0]);
}

const PHONE = ["My phone number is 555-0188.", "My phone number is 555-0142."] as const;

Deno.test("a recall answers with the newer one first, and says that they differ", async () => {
  verifies("10.6-38");
  const clock = new TestClock();
  await using svc = await startRelayer({ clock });
  const ids: string[] = [];
  for (const text of PHONE) {
    ids.push(await svc.remember(text));
    clock.advance(1000);
  }
  await svc.remember("The gate code is 4711.");
  const search = async (more: Json = {}): Promise<Json[]> =>
    (await svc.post("/api/recall", { query: "my phone number 555-0188", ...more })).body.results;
  const [first, second] = await search();
  assert.deepEqual([first.text, second.text], [PHONE[1], PHONE[0]]);
  assert.deepEqual([first.conflicts_with, second.conflicts_with], [[ids[0]], [ids[1]]]);
  // Also where the newer one is beyond the limit.
  assert.deepEqual((await search({ limit: 1 })).map(({ text }) => text), [PHONE[1]]);
  for (const more of [{ mode: "keyword" }, { scoring_weights: {} }, { include: "history" }]) {
    assert.equal((await search(more))[0].text, PHONE[0], JSON.stringify(more));
  }
});

Deno.test("of two statements about one thing the newer comes first", () => {
  assert.deepEqual(
    ordered("Where do I live now?", ["I live in Berlin.", 0.73, 1], [
      "I moved to Lisbon.",
      0.55,
      2,
    ]),
    ["I moved to Lisbon.", "I live in Berlin."],
  );
  assert.deepEqual(ordered("my phone number", [PHONE[0], 1, 1], [PHONE[1], 0.98, 2]), [
    PHONE[1],
    PHONE[0],
  ]);
  // Older ones stay where they are.
  assert.deepEqual(ordered("my phone number", [PHONE[0], 1, 2], [PHONE[1], 0.98, 1]), [...PHONE]);
});

Deno.test("statements about others, and unrelated ones, keep their places", () => {
  const sister = ["My sister lives in Zlín.", 0.73, 1] as const;
  const stays = (query: string, first: readonly [string, number, number], other: string) =>
    assert.equal(ordered(query, [...first], [other, first[1] / 2, 2])[0], first[0], other);
  stays("Where does my sister live?", sister, "My brother lives in Antwerp.");
  stays("Where does my sister live?", sister, "My sister now plays the violin.");
  stays(
    "Tom's number",
    ["Tom's phone number is 555-0171.", 1.1, 1],
    "Tim's phone number is 555-0117.",
  );
  stays(
    "When is Sam's exam?",
    ["Sam's exam is on 8 June.", 1.1, 1],
    "Kim's exam was moved to 15 June.",
  );
  stays(
    "What am I allergic to?",
    ["I am allergic to peanuts.", 0.9, 1],
    "I like tea in the morning.",
  );
});

Deno.test("two that differ are named, and long texts are left alone", () => {
  const hits = [{ text: PHONE[0], rank: 1, start: 1 }, { text: PHONE[1], rank: 0.98, start: 2 }];
  assert.deepEqual(newerFirst("my phone number", hits).conflicts, [[1, 0]]);
  const long = hits.map((hit) => ({ ...hit, text: hit.text.padEnd(401, ".") }));
  assert.deepEqual(newerFirst("my phone number", long), { order: [0, 1], conflicts: [] });
});

Deno.test("every hit is there once, whatever is asked and said", () => {
  const word = fc.constantFrom(
    "I",
    "live",
    "moved",
    "now",
    "Tom",
    "sister",
    "7",
    "ya no",
    "\u0301",
    "",
  );
  const text = fc.array(word, { maxLength: 12 }).map((words) => words.join(" "));
  const rank = fc.double({ min: -1, max: 2, noNaN: true });
  const hit = fc.record({ text, rank, start: fc.integer() });
  fc.assert(fc.property(text, fc.array(hit, { maxLength: 30 }), (query, hits) => {
    hits.sort((a, b) => b.rank - a.rank);
    const { order } = newerFirst(query, hits);
    assert.deepEqual([...order].sort((a, b) => a - b), hits.map((_, i) => i));
  }));
});
