import type { LexicalState } from "./lexical_index.ts";

/**
 * What stands in front: raised whenever words, stems, letter runs or their hashes change, since
 * numbers of another analysis mean other words.
 */
const FORMAT = 0x73_76_74_01;
/** Numbers of the head: format, documents, and terms, cells and pool of words and of runs. */
const HEAD = 8;
/** Numbers of a document: its id, its version, its length, its norm. */
const DOCUMENT = 7;
const ID_BYTES = 16;

/** A memory whose text was saved. */
export interface SavedMemory {
  /** A UUID, lower case. */
  readonly id: string;
  /** Version of the memory. */
  readonly version: number;
}

/**
 * Bytes of what the texts of a scope came to, in the byte order of the machine: they are read on
 * the machine that wrote them.
 */
export function encodeTexts(
  { lengths, norms, words, runs }: LexicalState,
  memoryOf: (document: number) => SavedMemory,
): Uint8Array<ArrayBuffer> {
  const count = lengths.length;
  const parts = [words.cells, words.pool, runs.cells, runs.pool];
  const size = HEAD + count * DOCUMENT + parts.reduce((sum, { length }) => sum + length, 0);
  const numbers = new Uint32Array(size);
  numbers.set([FORMAT, count, words.terms, words.cells.length, words.pool.length]);
  numbers.set([runs.terms, runs.cells.length, runs.pool.length], 5);
  const bytes = new Uint8Array(numbers.buffer);
  const versionsAt = HEAD + count * 4;
  for (let document = 0; document < count; document++) {
    const { id, version } = memoryOf(document);
    const at = HEAD * 4 + document * ID_BYTES;
    bytes.subarray(at, at + ID_BYTES).setFromHex(id.replaceAll("-", ""));
    numbers[versionsAt + document] = version;
  }
  let at = versionsAt + count;
  new Int32Array(numbers.buffer, at * 4, count).set(lengths);
  new Float32Array(numbers.buffer, (at + count) * 4, count).set(norms);
  at += 2 * count;
  for (const part of parts) {
    numbers.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** What {@linkcode encodeTexts} wrote; `undefined` for anything else. */
export function decodeTexts(
  saved: Uint8Array,
): { readonly state: LexicalState; readonly memories: readonly SavedMemory[] } | undefined {
  if (saved.length % 4 !== 0 || saved.length < HEAD * 4) return undefined;
  // A copy, since numbers must be aligned.
  const bytes = saved.slice();
  const numbers = new Uint32Array(bytes.buffer);
  const [format, count = 0, wordTerms = 0, wordCells = 0, wordPool = 0] = numbers;
  const [runTerms = 0, runCells = 0, runPool = 0] = numbers.subarray(5, HEAD);
  const sum = HEAD + count * DOCUMENT + wordCells + wordPool + runCells + runPool;
  if (format !== FORMAT || sum !== numbers.length) return undefined;
  const memories: SavedMemory[] = [];
  const versionsAt = HEAD + count * 4;
  for (let document = 0; document < count; document++) {
    const at = HEAD * 4 + document * ID_BYTES;
    const hex = bytes.subarray(at, at + ID_BYTES).toHex();
    const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${
      hex.slice(20)
    }`;
    memories.push({ id, version: numbers[versionsAt + document]! });
  }
  let at = versionsAt + count;
  const take = (length: number) => numbers.subarray(at, at += length);
  const lengths = new Int32Array(numbers.buffer, at * 4, count);
  const norms = new Float32Array(numbers.buffer, (at + count) * 4, count);
  at += 2 * count;
  const state: LexicalState = {
    lengths,
    norms,
    words: { terms: wordTerms, cells: take(wordCells), pool: take(wordPool) },
    runs: { terms: runTerms, cells: take(runCells), pool: take(runPool) },
  };
  return { state, memories };
}
