import assert from "node:assert/strict";
import { uniform } from "../../bench/statistics.ts";
import { LexicalIndex } from "../../src/index/words/lexical_index.ts";
import { decodeWords, snapshotWords } from "../../src/index/words/words_snapshot.ts";

const WORDS = "tea coffee train piano garden winter doctor bicycle window letter Größe 커피 茶"
  .split(" ");

interface Memory {
  readonly id: string;
  readonly version: number;
  readonly text: string;
}

function memory(random: () => number): Memory {
  const length = 1 + Math.floor(random() * 12);
  const text = Array.from({ length }, () => WORDS[Math.floor(random() ** 2 * WORDS.length)]!);
  return { id: crypto.randomUUID(), version: 1 + Math.floor(random() * 3), text: text.join(" ") };
}

/** An index of these memories, slot by slot; `known` says whose text is set. */
function indexOf(memories: readonly Memory[], known: (slot: number) => boolean): LexicalIndex {
  const index = new LexicalIndex();
  memories.forEach(({ text }, slot) => {
    index.add();
    if (known(slot)) index.set(slot, text);
  });
  return index;
}

function scores(index: LexicalIndex, query: string): readonly number[] {
  const { words, runs, fullMatch } = index.score(query);
  return [...words, ...runs, fullMatch];
}

function assertSame(actual: readonly number[], expected: readonly number[]): void {
  assert.equal(actual.length, expected.length);
  actual.forEach((value, i) => assert.ok(Math.abs(value - expected[i]!) < 1e-5, `${i}: ${value}`));
}

function snapshotOf(index: LexicalIndex, memories: readonly Memory[]): Iterable<Uint8Array> {
  const { state, slots } = index.save();
  return snapshotWords(state, (document) => memories[slots[document]!]!)!;
}

function saved(index: LexicalIndex, memories: readonly Memory[]): Uint8Array[] {
  return [...snapshotOf(index, memories)];
}

/** Words that no other text has: the lists do not fit into a record. */
function ownMemory(random: () => number): Memory {
  const words = Array.from({ length: 40 }, () => Math.floor(random() * 1e9).toString(36));
  return { id: crypto.randomUUID(), version: 1, text: `tea ${words.join(" ")}` };
}

function take(
  index: LexicalIndex,
  records: readonly Uint8Array[],
  memories: readonly Memory[],
): void {
  const found = decodeWords(records);
  assert.ok(found);
  const slots = found.ids.map((id, document) =>
    memories.findIndex((item) => item.id === id && item.version === found.versions[document])
  );
  index.take(found.state, Int32Array.from(slots));
}

Deno.test("an index that was saved scores as one whose texts were read again", () => {
  const random = uniform(4);
  for (let round = 0; round < 30; round++) {
    const memories = Array.from({ length: Math.floor(random() * 200) }, () => memory(random));
    const first = indexOf(memories, () => true);
    // What is removed leaves its numbers behind.
    for (let i = 0; i < 40 && memories.length > 1; i++) {
      const slot = Math.floor(random() * memories.length);
      first.remove(slot);
      const last = memories.pop()!;
      if (slot < memories.length) memories[slot] = last;
    }
    const records = saved(first, memories);
    // Later some are gone, some are new, in another order, and of some the text is known already.
    const later = memories.filter(() => random() < 0.8);
    for (let i = 0; i < random() * 50; i++) later.push(memory(random));
    later.sort(() => random() - 0.5);
    const isKnown = later.map(() => random() < 0.2);
    const index = indexOf(later, (slot) => isKnown[slot]!);
    take(index, records, later);
    for (let slot = 0; slot < later.length; slot++) {
      if (!index.has(slot)) index.set(slot, later[slot]!.text);
    }
    assert.equal(index.texts, later.length);
    const expected = indexOf(later, () => true);
    for (const query of ["tea", "coffee train", "커피 garden", "Größe 茶 letter"]) {
      assertSame(scores(index, query), scores(expected, query));
    }
    const again = indexOf(later, () => false);
    take(again, saved(index, later), later);
    assertSame(scores(again, "winter tea"), scores(expected, "winter tea"));
  }
});

Deno.test("a snapshot stays what it is while the index changes between its records", () => {
  const random = uniform(5);
  const memories = Array.from({ length: 300 }, () => ownMemory(random));
  const first = indexOf(memories, () => true);
  const now = [...memories];
  const read: Uint8Array[] = [];
  for (const record of snapshotOf(first, memories)) {
    read.push(record);
    for (let i = 0; i < 30; i++) {
      now.push(ownMemory(random));
      first.add();
      first.set(first.size - 1, now.at(-1)!.text);
    }
    if (read.length !== 1) continue;
    // So many are gone that the lists are made anew.
    for (let i = 0; i < 250; i++) {
      first.remove(0);
      now[0] = now.at(-1)!;
      now.pop();
    }
  }
  assert.ok(read.length > 2);
  for (const { length } of read) assert.ok(length <= 1.3 * 2 ** 20 && length % 4 === 0);
  const index = indexOf(memories, () => false);
  take(index, read, memories);
  assert.equal(index.texts, memories.length);
  const expected = indexOf(memories, () => true);
  for (const query of ["tea", memories[7]!.text, now.at(-1)!.text]) {
    assertSame(scores(index, query), scores(expected, query));
  }
  // What was taken over can be added to: nothing newer is in the way.
  for (const target of [index, expected]) {
    for (const { text } of now) {
      target.add();
      target.set(target.size - 1, text);
    }
  }
  assertSame(scores(index, now[7]!.text), scores(expected, now[7]!.text));
});

Deno.test("records of two snapshots, in another order, cut off or made up are not taken", () => {
  const random = uniform(3);
  const memories = Array.from({ length: 400 }, () => ownMemory(random));
  const index = indexOf(memories, () => true);
  const [first, second] = [saved(index, memories), saved(index, memories)];
  const [a, b, c] = first as [Uint8Array, Uint8Array, Uint8Array];
  assert.ok(first.length > 2 && decodeWords(first));
  const rest = first.slice(3);
  for (
    const records of [
      [b, a, c, ...rest],
      [a, c, ...rest],
      [b, c, ...rest],
      [a, second[1]!, c, ...rest],
      [second[0]!, b, c, ...rest],
      [...first, first.at(-1)!],
      first.slice(0, -1),
      [a, b.subarray(0, -4), c, ...rest],
      [a.subarray(0, 16), b, c, ...rest],
      [a.subarray(0, 16)],
      [new Uint8Array()],
      [],
    ]
  ) assert.equal(decodeWords(records), undefined);
  // Another format, mark or place, more pieces than there can be, a longer one, and a shorter one.
  for (
    const [at, value] of [[0, 1], [1, 0], [4, 1], [5, 2 ** 30], [6, 2 ** 32 - 4], [6, 2 ** 22], [
      6,
      8,
    ]]
  ) {
    const changed = a.slice();
    const numbers = new Uint32Array(changed.buffer);
    numbers[at!] = value === 0 ? numbers[at!]! + 1 : value!;
    assert.equal(decodeWords(first.with(0, changed)), undefined, `${at} ${value}`);
  }
  // Numbers that do not begin where they could be read are copied.
  const moved = first.map((record) => {
    const bytes = new Uint8Array(record.length + 1);
    bytes.set(record, 1);
    return bytes.subarray(1);
  });
  assert.deepEqual(decodeWords(moved), decodeWords(first));
});

Deno.test("sizes that cannot be are refused before anything is taken over", () => {
  const random = uniform(9);
  const memories = Array.from({ length: 20 }, () => memory(random));
  const found = decodeWords(saved(indexOf(memories, () => true), memories))!;
  const index = indexOf(memories, (slot) => slot < 5);
  const before = scores(index, "tea");
  const slots = Int32Array.from(memories, (_, slot) => slot);
  const { words, norms } = found.state;
  const cells = words.cells.slice(4);
  for (const wrong of [{ words: { ...words, cells } }, { norms: norms.slice(1) }]) {
    assert.throws(() => index.take({ ...found.state, ...wrong }, slots), RangeError);
  }
  assert.throws(() => index.take(found.state, slots.slice(1)), RangeError);
  assertSame(scores(index, "tea"), before);
});

Deno.test("a snapshot that would be larger than allowed is not made", () => {
  const memories = Array.from({ length: 20 }, () => memory(uniform(2)));
  const { state, slots } = indexOf(memories, () => true).save();
  let asked = 0;
  const memoryOf = (document: number) => (asked++, memories[slots[document]!]!);
  assert.equal(snapshotWords(state, memoryOf, 1000), undefined);
  assert.equal(asked, 0);
  assert.ok(snapshotWords(state, memoryOf, 1_000_000));
});
