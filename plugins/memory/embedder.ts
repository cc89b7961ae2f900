import type { Embedder } from "../../src/interfaces/mod.ts";
import { Gate } from "./gate.ts";

const MAX_WORDS = 128;
const MAX_WINDOWS = 16;
/** Runs of more than 30 combining marks, which take quadratic time to normalise (UAX #15). */
const LONG_MARKS = /(\p{M}{30})\p{M}+/gu;

/** FNV-1a, 32 bits (draft-eastlake-fnv), over code points. */
function hash(word: string): number {
  let state = 2166136261;
  for (const character of word) {
    state = Math.imul(state ^ character.codePointAt(0)!, 16777619);
  }
  return state >>> 0;
}

/** Words in lower case; characters where there is no word, so that every text has a direction. */
function wordsOf(text: string): string[] {
  const words = text.replaceAll(LONG_MARKS, "$1").normalize("NFKC").toLowerCase().match(
    /[\p{L}\p{N}]+/gu,
  );
  if (words !== null) return words;
  return text === "" ? [""] : [...text];
}

/** Windows of at most {@linkcode MAX_WORDS} words, sampled evenly when there are too many. */
function windowsOf(words: readonly string[]): string[][] {
  const count = Math.ceil(words.length / MAX_WORDS);
  const kept = Math.min(count, MAX_WINDOWS);
  return Array.from({ length: kept }, (_, index) => {
    const start = kept === 1 ? 0 : Math.round(index * (count - 1) / (kept - 1)) * MAX_WORDS;
    return words.slice(start, start + MAX_WORDS);
  });
}

function vectorOf(words: readonly string[], dimensions: number): Float32Array {
  const counts = new Float32Array(dimensions);
  for (const word of words) {
    const slot = hash(word) % dimensions;
    counts[slot] = counts[slot]! + 1;
  }
  const length = Math.hypot(...counts);
  return counts.map((count) => count / length);
}

/**
 * A bag of words, hashed: texts are as close as the words they share. Deterministic and offline;
 * it knows words, not meanings. A query longer than the window is read up to its 128th word.
 *
 * @param dimensions Length of the vectors, at least 1.
 */
export function memoryEmbedder(dimensions = 256): Embedder {
  const gate = new Gate("embedding_unavailable");
  return {
    model: `bag-of-words-${dimensions}`,
    dimensions,
    maxTokens: MAX_WORDS,
    async embed(texts, { purpose, signal }) {
      await gate.pass(signal);
      return texts.map((text) => {
        const windows = windowsOf(wordsOf(text));
        const read = purpose === "query" ? windows.slice(0, 1) : windows;
        return read.map((words) => vectorOf(words, dimensions));
      });
    },
    [Symbol.asyncDispose]: () => gate[Symbol.asyncDispose](),
  };
}
