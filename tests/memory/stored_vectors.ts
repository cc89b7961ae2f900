import { Buffer } from "node:buffer";
import type { Embedder } from "../../src/interfaces/mod.ts";

const DIMENSIONS = 64;
/** Bytes of a piece, and where it begins in a vector. */
const PIECE = 24;
const AT = 8;

/** Numbers of -1 to 1 out of a word. */
function numbersOf(word: string): Float32Array {
  let state = 2166136261;
  for (const character of word) state = Math.imul(state ^ character.codePointAt(0)!, 16777619);
  return Float32Array.from({ length: DIMENSIONS }, () => {
    state = Math.imul(state ^ (state >>> 15), 2246822519) + 374761393 | 0;
    return (state >>> 8) / 0x800000 - 1;
  });
}

function vectorOf(text: string): Float32Array {
  const sum = new Float32Array(DIMENSIONS);
  for (const word of text.toLowerCase().match(/[a-z0-9]+/g) ?? [text]) {
    numbersOf(word).forEach((value, i) => sum[i]! += value);
  }
  const length = Math.hypot(...sum);
  return sum.map((value) => value / length);
}

/** Makes vectors of which every piece is found again: no number in them is like another. */
export function denseEmbedder(): Embedder {
  return {
    model: "dense-words",
    dimensions: DIMENSIONS,
    maxTokens: 1_000_000,
    embed: (texts) => Promise.resolve(texts.map((text) => [vectorOf(text)])),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** A piece of a text's vector, as a table has it. */
export function piece(text: string): Buffer {
  return Buffer.from(vectorOf(text).buffer, AT * 4, PIECE);
}

/** Range of the values of a vector index, as the text of one of its files says it. */
function boundsIn(file: string): readonly [number, number] | undefined {
  const found = /\\"bounds\\":\{\\"start\\":([-\d.e]+),\\"end\\":([-\d.e]+)\}/.exec(file);
  return found === null ? undefined : [Number(found[1]), Number(found[2])];
}

/** Makes pieces of texts' vectors, as a vector index has them that these files belong to. */
export function quantised(files: readonly Buffer[]): (text: string) => Buffer[] {
  const all = files.flatMap((file) => {
    const bounds = boundsIn(file.toString("latin1"));
    return bounds === undefined ? [] : [bounds];
  });
  return (text) =>
    all.map(([start, end]) => {
      const codes = vectorOf(text).map((value) => (value - start) * 255 / (end - start));
      // Cut off and not rounded.
      return Buffer.from(codes.subarray(AT, AT + PIECE).map((code) => Math.trunc(code)));
    });
}
