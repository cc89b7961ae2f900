import assert from "node:assert/strict";
import fc from "fast-check";
import { verifies } from "../../requirements.ts";
import { type Json, startRelayer, TestClock } from "../../relayer_fixture.ts";
import { mayComeUp } from "../../../src/memory/recall/contradicting.ts";
import { newerFirst } from "../../../src/memory/recall/newer_first.ts";

/** Texts in the order that is answered; each is given with its cosine, which is its score, and its time. */
function ordered(text: string, ...hits: readonly [text: string, cosine: number, start: number][]) {
  const { order } = newerFirst(
    { text, known: 1 },
    hits.map(([text, cosine, start]) => ({ text, rank: cosine, cosine, start })),
  );
  return order.map((at) => hits[at]![0]);
}

const PHONE = ["My phone number is 555-0188.", "My new phone number is 555-0142."] as const;

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
    (await svc.post("/api/recall", { query: "my phone number", ...more })).body.results;
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
  // As the built-in embedder has them among unrelated facts.
  const sister = ["My sister lives in Zlín.", 0.9, 1] as const;
  const stays = (query: string, first: readonly [string, number, number], other: string) =>
    assert.equal(ordered(query, [...first], [other, 0.4, 2])[0], first[0], other);
  stays("Where does my sister live?", sister, "My brother lives in Antwerp.");
  stays("Where does my sister live?", sister, "My sister now plays the violin.");
  stays("Where does my sister live?", sister, "My sister moved into a bigger office.");
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

Deno.test("a number or a name that is asked for must be in the newer one", () => {
  const paid = ["Invoice 20481 was paid.", 0.8, 1] as const;
  const sent = ["Invoice 20418 was sent.", 0.75, 2] as const;
  assert.deepEqual(ordered("invoice 20481", [...paid], [...sent])[0], paid[0]);
});

Deno.test("where the embedder does not know the question, words have to be shared", () => {
  const texts = ["Vivo en Lima cerca del mar.", "Ahora mi casa está en Cusco."];
  const hits = texts.map((text, start) => ({ text, rank: 0.4, cosine: 0.9, start }));
  const at = (known: number) => newerFirst({ text: "¿Dónde vivo?", known }, hits).order[0];
  assert.deepEqual([at(1), at(0.2)], [1, 0]);
});

Deno.test("what is not about what is asked takes no place, however new it is", () => {
  const first = (text: string, texts: readonly string[]) => {
    const hits = texts.map((text, start) => ({ text, rank: 0.9 - start / 10, cosine: 0.9, start }));
    return newerFirst({ text, known: 1 }, hits).order[0];
  };
  const folders = [
    "The yellow folder holds the warranties.",
    "Fixtures live in the folder samples.",
  ];
  assert.equal(first("What does the yellow folder hold?", folders), 0);
  const goddaughter = "My goddaughter Ottilia lives in Vilnius.";
  assert.equal(first("Where does my goddaughter live?", [goddaughter, "My gym is in Split."]), 0);
  // Another word stands for "live".
  assert.equal(first("Where do I live?", ["I live in Berlin.", "My flat is in Lisbon."]), 1);
});

Deno.test("two that differ are named, and long texts are left alone", () => {
  const hits = PHONE.map((text, i) => ({ text, rank: 1 - i / 50, cosine: 0.8, start: i }));
  const asked = { text: "my phone number", known: 1 };
  assert.deepEqual(newerFirst(asked, hits).conflicts, [[1, 0]]);
  const long = hits.map((hit) => ({ ...hit, text: hit.text.padEnd(401, ".") }));
  assert.deepEqual(newerFirst(asked, long), { order: [0, 1], conflicts: [] });
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
  const cosine = fc.double({ min: -1, max: 1, noNaN: true });
  const hit = fc.record({ text, rank, cosine, start: fc.integer() });
  const asked = fc.record({ text, known: fc.double({ min: 0, max: 1, noNaN: true }) });
  fc.assert(fc.property(asked, fc.array(hit, { maxLength: 30 }), (query, hits) => {
    hits.sort((a, b) => b.rank - a.rank);
    const { order } = newerFirst(query, hits);
    assert.deepEqual([...order].sort((a, b) => a - b), hits.map((_, i) => i));
  }));
});

Deno.test("behind what is answered only what is newer than a hit before it may come up", () => {
  const hit = (createdAt: number) =>
    ({ entry: { createdAt } }) as unknown as Parameters<typeof mayComeUp>[0][number];
  const starts = (answered: number, ...times: number[]) =>
    mayComeUp(times.map(hit), answered).map(({ entry }) => entry.createdAt);
  assert.deepEqual(starts(2, 5, 5, 5, 5), [5, 5]);
  assert.deepEqual(starts(2, 5, 7, 6, 4, 5, 4), [5, 7, 6, 5]);
  assert.deepEqual(starts(9, 3, 2, 1), [3, 2, 1]);
});
