import assert from "node:assert/strict";
import type { IndexedMemory } from "../../src/index/ranking.ts";
import { Relations, startOf } from "../../src/index/relations.ts";
import type { MemoryLink, Standing } from "../../src/interfaces/mod.ts";
import { countsAt, relationsOf } from "../../src/memory/links/view.ts";
import { verifies } from "../requirements.ts";

function memory(id: string, at: number, standing?: Standing): IndexedMemory {
  return {
    owner: "o",
    namespace: "n",
    id,
    version: 1,
    payload: new Uint8Array(),
    keyId: "",
    createdAt: at,
    updatedAt: at,
    importance: 0.5,
    source: "remember",
    bytes: 1,
    ...(standing === undefined ? {} : { standing }),
  };
}

const link = (kind: MemoryLink["kind"], id: string, by = "caller"): Standing => ({
  links: [{ id, kind, by, score: 1 }],
});

function related(...memories: IndexedMemory[]) {
  const all = new Map(memories.map((one) => [one.id, one]));
  const relations = new Relations((id) => all.get(id));
  for (const one of memories) relations.add(one);
  return { all, relations };
}

Deno.test("what takes a place gives it back when it is removed, whatever the order", () => {
  const old = memory("a", 1);
  const next = memory("b", 2, link("supersedes", "a"));
  for (const order of [[old, next], [next, old]]) {
    const { all, relations } = related(...order);
    assert.equal(relations.supersededBy(old, 10)?.id, "b");
    assert.equal(relations.supersededBy(old, 1), undefined, "not yet");
    assert.deepEqual(relations.supersededOf(next).map(({ id }) => id), ["a"]);
    relations.remove(next);
    all.delete("b");
    assert.equal(relations.isOver(old, 10), false);
    assert.equal(relations.isAlone(old), true);
  }
});

Deno.test("of two that name each other the one written last counts", () => {
  const a = memory("a", 1, link("supersedes", "b"));
  const b = memory("b", 2, link("supersedes", "a"));
  const { relations } = related(a, b);
  assert.deepEqual([relations.isOver(a, 10), relations.isOver(b, 10)], [true, false]);
});

Deno.test("of one key the newest counts, and groups of any size are left behind", () => {
  const key: Standing = { keyDigest: "k", textDigest: "t" };
  const many = Array.from({ length: 5 }, (_, i) => memory(String(i), i, key));
  const { all, relations } = related(...many);
  assert.deepEqual(many.map((one) => relations.isOver(one, 10)), [true, true, true, true, false]);
  assert.deepEqual(many.map((one) => relations.isOver(one, 2)), [true, true, false, false, false]);
  assert.equal(relations.withText("t").length, 5);
  for (const one of many) {
    relations.remove(one);
    all.delete(one.id);
  }
  assert.deepEqual(relations.withText("t"), []);
  relations.add(many[0]!);
  all.set("0", many[0]!);
  assert.equal(relations.isOver(many[0]!, 10), false);
});

Deno.test("of one key and one time the one that was accepted last counts, then the greatest id", () => {
  verifies("2-33");
  const key: Standing = { keyDigest: "k", validFrom: 1 };
  const earlier = memory("c", 1, key);
  const [first, second] = [memory("a", 2, key), memory("b", 2, key)];
  for (const order of [[earlier, first, second], [second, first, earlier]]) {
    const { all, relations } = related(...order);
    const counting = () => [...all.values()].filter((one) => !relations.isOver(one, 10));
    assert.deepEqual(counting(), [second]);
    // Nothing is lost: the others have their place back when it goes.
    relations.remove(second);
    all.delete("b");
    assert.deepEqual(counting(), [first]);
  }
});

Deno.test("of a circle of any kind the one that was written last counts", () => {
  verifies("2-34");
  const key = { keyDigest: "k" };
  const counting = (...memories: IndexedMemory[]) => {
    const { relations } = related(...memories);
    return memories.filter((one) => !relations.isOver(one, 100)).map(({ id }) => id);
  };
  // By its key the first is newer, and the second, which was written later, names it.
  const first = { ...memory("a", 1, { ...key, validFrom: 20 }), updatedAt: 1 };
  const second = { ...memory("b", 2, { ...key, validFrom: 10, ...link("supersedes", "a") }) };
  assert.deepEqual(counting(first, second), ["b"]);
  assert.deepEqual(counting(second, first), ["b"]);
  // Corrected since: now it is the last word.
  assert.deepEqual(counting({ ...first, updatedAt: 3 }, second), ["a"]);
  const ring = (size: number) =>
    Array.from(
      { length: size },
      (_, i) => memory(String.fromCharCode(97 + i), i, link("supersedes", `${"abcdef"[i - 1]}`)),
    );
  for (const size of [3, 4, 6]) {
    const [start, ...rest] = ring(size);
    const closed = memory("a", 0, link("supersedes", "abcdef"[size - 1]!));
    assert.equal(start!.id, closed.id);
    assert.deepEqual(counting(closed, ...rest), ["abcdef"[size - 1]]);
    // What is outside of it and took the place of that one counts alone.
    const outside = memory("z", 0, link("supersedes", "abcdef"[size - 1]!));
    assert.deepEqual(counting(closed, ...rest, outside), ["z"]);
    // What hangs on the circle is over.
    const before = memory("y", 50);
    const taking = memory("x", 60, link("supersedes", "y"));
    assert.deepEqual(counting(closed, ...rest, before, taking), ["abcdef"[size - 1], "x"]);
  }
});

Deno.test("what is not shown takes nobody's place, and what did before still does", () => {
  verifies("2-35");
  const old = memory("a", 1);
  const next = memory("b", 2, link("supersedes", "a"));
  const last = memory("c", 3, link("supersedes", "a"));
  const { relations } = related(old, next, last);
  const hidden = new Set<string>();
  const counts = countsAt({ relations }, 10, ({ id }) => !hidden.has(id), false);
  const by = () => relationsOf({ relations }, old, 10, ({ id }) => !hidden.has(id)).supersededBy;
  assert.deepEqual([counts(old), by()], [false, "c"]);
  hidden.add("c");
  assert.deepEqual([counts(old), by()], [false, "b"]);
  hidden.add("b");
  assert.deepEqual([counts(old), by()], [true, undefined]);
});

Deno.test("time, restatements and conflicts", () => {
  const first = memory("a", 5, { validFrom: 1, validTo: 8 });
  assert.equal(startOf(first), 1);
  const again = memory("b", 6, link("restates", "a", "same_text"));
  const other = memory("c", 7, link("conflicts", "a", "rule"));
  const { relations } = related(first, again, other);
  assert.deepEqual([relations.isOver(first, 7), relations.isOver(first, 8)], [false, true]);
  assert.equal(relations.standsFor(again)?.id, "a");
  assert.deepEqual(relations.restatements(first).map(({ id }) => id), ["b"]);
  assert.deepEqual(relations.conflicts(first).map(({ id }) => id), ["c"]);
  assert.deepEqual(relations.conflicts(other).map(({ id }) => id), ["a"]);
});

Deno.test("of memories that stand for each other one is left, however many there are", () => {
  for (const size of [1, 2, 3, 50]) {
    const circle = Array.from(
      { length: size },
      (_, i) => memory(`m${i}`, 10 + i, link("restates", `m${(i + 1) % size}`)),
    );
    const into = memory("z", 1, link("restates", "m0"));
    const { relations } = related(...circle, into);
    const shown = [...circle, into].filter((one) => relations.standsFor(one) === undefined);
    assert.deepEqual(shown.map(({ id }) => id), ["m0"], `${size}`);
  }
});

Deno.test("a long chain of restatements ends at a memory that is seen", () => {
  const chain = Array.from(
    { length: 500 },
    (_, i) => memory(`m${i}`, i, i === 0 ? undefined : link("restates", `m${i - 1}`)),
  );
  const { relations } = related(...chain);
  assert.equal(relations.standsFor(chain[50]!)?.id, "m49");
  assert.equal(relations.rootOf(chain[50]!).id, "m0");
  assert.equal(chain.filter((one) => relations.standsFor(one) === undefined).length >= 1, true);
});
