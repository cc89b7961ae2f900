import assert from "node:assert/strict";
import { ResidentScope } from "../../src/index/resident_scope.ts";
import type { SearchOptions } from "../../src/index/ranking.ts";
import { Arena } from "../../src/index/vectors/arena.ts";
import type { IndexEntry } from "../../src/interfaces/mod.ts";
import { verifies } from "../requirements.ts";
import { entryOf, scopeOf } from "./fakes.ts";

const DIMENSIONS = 64;
const MINUTE = 60_000;

/** A memory, and its cosine to the query. */
interface Given {
  readonly text: string;
  readonly cosine: number;
  readonly session?: string;
  readonly position?: number;
  readonly at?: number;
}

/** A unit vector with this cosine to the query, unlike all others. */
function vectorAt(cosine: number, place: number): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  vector[0] = cosine;
  vector[1 + place % (DIMENSIONS - 1)] = Math.sqrt(1 - cosine ** 2);
  return vector;
}

function scopeWith(given: readonly Given[]): ResidentScope {
  const scope = new ResidentScope(scopeOf("a"), new Arena(DIMENSIONS));
  for (const [i, { text, cosine, session, position, at = 0 }] of given.entries()) {
    const standing = {
      ...(session === undefined ? {} : { sessionDigest: session }),
      ...(position === undefined ? {} : { position }),
    };
    const members: Partial<IndexEntry> = { createdAt: at, updatedAt: at, standing };
    scope.put(entryOf(text, [vectorAt(cosine, i)], members));
    scope.setText(text, 1, text);
  }
  return scope;
}

/** What is found by the meaning alone: no text shares a word with the query. */
function found(scope: ResidentScope, options: Partial<SearchOptions> = {}): string[] {
  return scope.match(
    { vector: vectorAt(1, 0), text: "zzz" },
    { limit: 10, inContext: true, ...options },
  ).map(({ entry }) => entry.id);
}

const conversation: readonly Given[] = [
  { text: "How did it go in Leeds?", cosine: 0.6, session: "a", position: 3 },
  { text: "they want me from April on", cosine: 0.35, session: "a", position: 7 },
  { text: "a note about Bradford", cosine: 0.45 },
  { text: "nothing of that", cosine: 0.05, session: "a", position: 8 },
];

Deno.test("what answers a question comes up by it, and the question gives way", () => {
  verifies("10.6-42");
  const scope = scopeWith(conversation);
  const [question, answer, note, other] = conversation.map(({ text }) => text);
  assert.deepEqual(found(scope), [answer, note, question, other]);
  assert.deepEqual(found(scope, { inContext: false }), [question, note, answer, other]);
  // The score stays what it is.
  const scores = (inContext: boolean) =>
    new Map(
      scope.match({ vector: vectorAt(1, 0), text: "zzz" }, { limit: 10, inContext })
        .map(({ entry, score }) => [entry.id, score]),
    );
  assert.deepEqual([...scores(true)].sort(), [...scores(false)].sort());
  // The next one by position, however far; when it goes, the one behind it.
  scope.remove(answer!);
  assert.deepEqual(found(scope), [note, question, other]);
  scope.remove(other!);
  // A question that nothing follows stays where it is.
  assert.deepEqual(found(scope), [question, note]);
});

Deno.test("what follows a question is found from beyond the hundred that are looked at", () => {
  const others = Array.from({ length: 300 }, (_, i): Given => ({ text: `n${i}`, cosine: 0.2 }));
  const scope = scopeWith([
    { text: "When do you start?", cosine: 0.9, session: "a", position: 0 },
    { text: "first of April", cosine: 0.15, session: "a", position: 1 },
    ...others,
  ]);
  assert.deepEqual(found(scope, { limit: 2 }), ["first of April", "When do you start?"]);
  const refused = { limit: 2, accept: ({ id }: { id: string }) => id !== "first of April" };
  assert.ok(!found(scope, refused).includes("first of April"));
  assert.deepEqual(found(scope, { limit: 5, minScore: 0.5 }), ["When do you start?"]);
  assert.deepEqual(found(scope, { limit: 5, maxDistance: 0.5 }), ["When do you start?"]);
});

Deno.test("an unrelated neighbour never wins, whatever stands beside it", () => {
  verifies("10.6-42");
  for (let cosine = 0.1; cosine <= 1; cosine += 0.1) {
    for (const unrelated of [-0.2, 0, 0.1 * cosine]) {
      const scope = scopeWith([
        { text: "When do you start?", cosine, session: "a", position: 0 },
        { text: "brb, the door", cosine: unrelated, session: "a", position: 1 },
        { text: "we talked about the start", cosine, session: "a", position: 2 },
        { text: "another matter", cosine: 0.9 * cosine },
      ]);
      const [first] = found(scope);
      assert.equal(first, "we talked about the start", `${cosine} ${unrelated}`);
      scope.remove("we talked about the start");
      assert.notEqual(found(scope)[0], "brb, the door", `${cosine} ${unrelated}`);
      scope.remove("another matter");
      assert.notEqual(found(scope)[0], "brb, the door", `${cosine} ${unrelated}`);
      scope.release();
    }
  }
});

Deno.test("what was said together counts by its time only where the namespace asks", () => {
  const facts: readonly Given[] = [
    { text: "I moved to Ghent", cosine: 0.6, at: 0 },
    { text: "Rosa plays the viola", cosine: 0.48, at: MINUTE },
    { text: "the rent is 900", cosine: 0.5, at: 60 * MINUTE },
  ];
  const byScore = ["I moved to Ghent", "the rent is 900", "Rosa plays the viola"];
  assert.deepEqual(found(scopeWith(facts)), byScore);
  // Half of the texts ask: these are turns.
  const asked = facts.map(({ at = 0 }, i) => ({
    text: `and ${i}?`,
    cosine: 0,
    at: at + 2 * MINUTE,
  }));
  const turns = found(scopeWith([...facts, ...asked]));
  assert.deepEqual(turns.slice(0, 2), ["I moved to Ghent", "Rosa plays the viola"]);
});

Deno.test("a reply is told by its time; what was accepted at once has no order", () => {
  const turns = (gap: number): readonly Given[] => [
    { text: "How did it go in Leeds?", cosine: 0.6, at: 0 },
    { text: "they want me from April on", cosine: 0.35, at: gap },
    { text: "a note about Bradford", cosine: 0.45, at: 500 * MINUTE },
  ];
  assert.equal(found(scopeWith(turns(MINUTE)))[0], "they want me from April on");
  assert.equal(found(scopeWith(turns(0)))[0], "How did it go in Leeds?");
  assert.equal(found(scopeWith(turns(6 * MINUTE)))[0], "How did it go in Leeds?");
});

Deno.test("shared words count more where the namespace is made of conversations", () => {
  const words = (given: readonly Given[]): number[] =>
    scopeWith(given).match(
      { vector: vectorAt(1, 0), text: "who plays the viola" },
      { limit: 10, inContext: true },
    ).filter(({ entry }) => !entry.id.endsWith("?")).map(({ evidence = 0 }) => evidence);
  const turns = [
    { text: "the viola", cosine: 0.3 },
    { text: "she is nine", cosine: 0.2, at: 60 * MINUTE },
  ];
  const [shared, other] = words([...turns, { text: "and Rosa?", cosine: 0.1, at: 120 * MINUTE }]);
  assert.ok(shared! > 0.01 && shared! < 0.1, String(shared));
  assert.equal(other, 0);
  assert.deepEqual(words(turns), [0, 0]);
});

Deno.test("a replaced memory leaves its session", () => {
  const scope = scopeWith(conversation);
  const [question, answer, note] = conversation.map(({ text }) => text);
  scope.put(entryOf(answer!, [vectorAt(0.35, 1)], { version: 2, standing: {} }));
  // The question has the last one behind it now.
  assert.deepEqual(found(scope).slice(0, 2), [note, answer]);
  scope.put(entryOf(question!, [vectorAt(0.6, 0)], { version: 2, standing: {} }));
  scope.setText(question!, 2, question!);
  assert.equal(found(scope)[0], question);
});

Deno.test("where nothing asks and nothing was said in a session, the context changes nothing", () => {
  const facts = Array.from({ length: 300 }, (_, i): Given => {
    return { text: `note ${i}`, cosine: (i * 37 % 100) / 120, at: i % 7 * MINUTE };
  });
  const scope = scopeWith(facts);
  const plain = (inContext: boolean) =>
    scope.match({ vector: vectorAt(1, 0), text: "note 8" }, { limit: 30, inContext })
      .map(({ evidence = 0, ...match }) => ({ ...match, evidence }));
  assert.deepEqual(plain(true), plain(false));
  // One question, one session: neighbours are looked at, and have nothing to say for the others.
  scope.put(entryOf("And?", [vectorAt(0, 0)]));
  scope.setText("And?", 1, "And?");
  const withOne = plain(true).map(({ entry }) => entry.id);
  assert.deepEqual(withOne.sort(), plain(false).map(({ entry }) => entry.id).sort());
});
