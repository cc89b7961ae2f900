import assert from "node:assert/strict";
import { uniform } from "../../bench/statistics.ts";
import { packPieces, unpackPieces } from "../../src/memory/recall/read_words.ts";

function piecesOf(random: () => number, count: number): Uint8Array[] {
  return Array.from({ length: count }, () => {
    const piece = new Uint8Array(4 * Math.floor(random() ** 3 * 200_000));
    return piece.fill(Math.floor(random() * 256));
  });
}

Deno.test("pieces come out of the records they were put in", () => {
  const random = uniform(3);
  for (let round = 0; round < 20; round++) {
    const pieces = piecesOf(random, 1 + Math.floor(random() * 30));
    const records = [...packPieces(pieces)];
    const size = pieces.reduce((sum, { length }) => sum + length, 0);
    assert.ok(records.length <= 1 + size / 2 ** 20);
    assert.deepEqual(unpackPieces(records), pieces);
    // From where numbers cannot be read, too.
    const moved = records.map((record) => {
      const bytes = new Uint8Array(record.length + 1);
      bytes.set(record, 1);
      return bytes.subarray(1);
    });
    assert.deepEqual(unpackPieces(moved), pieces);
  }
  assert.deepEqual([...packPieces([])], []);
  assert.deepEqual(unpackPieces([...packPieces([new Uint8Array()])]), [new Uint8Array()]);
});

Deno.test("a record is made of what its pieces are when it is asked for", () => {
  const pieces = [new Uint8Array(2 ** 20).fill(1), new Uint8Array(8).fill(1)];
  const records: Uint8Array[] = [];
  for (const record of packPieces(pieces)) {
    records.push(record);
    pieces[1]!.fill(2);
  }
  const found = unpackPieces(records)!;
  assert.deepEqual(found.map((piece) => piece[0]), [1, 2]);
});

Deno.test("records of two files, in another order, cut off or made up are not unpacked", () => {
  const pieces = Array.from({ length: 3 }, (_, i) => new Uint8Array(2 ** 20).fill(i));
  const [first, second] = [[...packPieces(pieces)], [...packPieces(pieces)]];
  assert.equal(first.length, 3);
  const [a, b, c] = first as [Uint8Array, Uint8Array, Uint8Array];
  for (
    const records of [
      [b, a, c],
      [a, c],
      [b, c],
      [a, second[1]!, c],
      [second[0]!, b, c],
      [a, a],
      [a, b.subarray(0, -4), c],
      [a.subarray(0, 16)],
      [new Uint8Array()],
    ]
  ) assert.equal(unpackPieces(records), undefined);
  // More pieces than there can be, a longer one, a shorter one, and another format.
  for (const [at, value] of [[5, 2 ** 30], [6, 2 ** 32 - 4], [6, 2 ** 20 + 4], [6, 8], [0, 1]]) {
    const changed = a.slice();
    new Uint32Array(changed.buffer)[at!] = value!;
    assert.equal(unpackPieces([changed]), undefined, `${at}`);
  }
});
