import assert from "node:assert/strict";
import type { Aspects } from "../../../src/interfaces/mod.ts";
import { type Dated, newerFirst, worthReading } from "../../../src/memory/recall/newer_first.ts";

/** Of vectors whose second number says what they are about. */
const ASPECTS: Aspects = {
  statement: (vector) => new Float32Array([3 * vector[1]!]),
  question: (vector) => new Float32Array([3 * vector[1]!]),
};
const HOME = [0.8, 1, 0];
const WORK = [0.8, 0, 1];

function first(hits: readonly [text: string, vector?: number[]][], aspects?: Aspects): string {
  const dated = hits.map(([text, vector], start): Dated => ({
    text,
    rank: 0.6 - start / 50,
    cosine: 0.6 - start / 50,
    start,
    vector: vector && new Float32Array(vector),
  }));
  const asked = { text: "Where is our home?", known: 1, vector: new Float32Array(HOME), aspects };
  return dated[newerFirst(asked, dated).order[0]!]!.text;
}

const OLD: [string, number[]] = ["We rent two rooms in Sandbridge.", HOME];

Deno.test("a newer statement about what is asked comes first without a word of it", () => {
  const boxes = "All boxes stand in Pinewood.";
  assert.equal(first([OLD, [boxes, HOME]], ASPECTS), boxes);
  assert.equal(first([OLD, [boxes, WORK]], ASPECTS), OLD[0]);
  // Where there are no aspects or no vector, words decide.
  assert.equal(first([OLD, [boxes, HOME]]), OLD[0]);
  assert.equal(first([OLD, [boxes]], ASPECTS), OLD[0]);
});

Deno.test("with aspects the first twelve are read, however far apart they are", () => {
  const hits = Array.from({ length: 20 }, (_, i) => ({ rank: 1 - i, cosine: 1 - i }));
  assert.equal(worthReading(hits, 1), 1);
  assert.equal(worthReading(hits, 1, true), 12);
  assert.equal(worthReading(hits, 15, true), 15);
  assert.equal(worthReading(hits.slice(0, 3), 1, true), 3);
});
