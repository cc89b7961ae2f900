import type { LexicalState } from "./lexical_index.ts";

/**
 * What stands in front: raised whenever words, stems, letter runs or their hashes change, since
 * numbers of another analysis mean other words.
 */
const FORMAT = 0x73_76_74_01;
/**
 * Numbers of the head: format, documents, bytes of the names, and terms, cells and pool of words
 * and of runs.
 */
const HEAD = 9;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A memory whose text was saved. */
export interface SavedMemory {
  /** Memory id. */
  readonly id: string;
  /** Version of the memory. */
  readonly version: number;
}

/** What was saved, by document. */
export interface SavedTexts {
  /** What the texts came to. */
  readonly state: LexicalState;
  /** Ids of the memories. */
  readonly ids: readonly string[];
  /** Their versions. */
  readonly versions: readonly number[];
}

/**
 * Bytes of what the texts of a scope came to: head, names as JSON filled up with blanks, lengths,
 * norms and lists, in the byte order of the machine: they are read on the machine that wrote them.
 */
export function encodeTexts(
  { lengths, norms, words, runs }: LexicalState,
  memoryOf: (document: number) => SavedMemory,
): Uint8Array<ArrayBuffer> {
  const memories = Array.from(lengths, (_, document) => memoryOf(document));
  const json = JSON.stringify([memories.map(({ id }) => id), memories.map((m) => m.version)]);
  const names = encoder.encode(json.padEnd(json.length + 3));
  const nameWords = names.length >>> 2;
  const parts = [words.cells, words.pool, runs.cells, runs.pool];
  const lists = parts.reduce((sum, { length }) => sum + length, 0);
  const numbers = new Uint32Array(HEAD + nameWords + 2 * lengths.length + lists);
  numbers.set([FORMAT, lengths.length, nameWords * 4]);
  numbers.set([words.terms, words.cells.length, words.pool.length], 3);
  numbers.set([runs.terms, runs.cells.length, runs.pool.length], 6);
  const bytes = new Uint8Array(numbers.buffer);
  bytes.set(names.subarray(0, nameWords * 4), HEAD * 4);
  let at = HEAD + nameWords;
  new Int32Array(numbers.buffer, at * 4, lengths.length).set(lengths);
  at += lengths.length;
  new Float32Array(numbers.buffer, at * 4, norms.length).set(norms);
  at += norms.length;
  for (const part of parts) {
    numbers.set(part, at);
    at += part.length;
  }
  return bytes;
}

/**
 * What {@linkcode encodeTexts} wrote; `undefined` for anything else. Its numbers are those of `saved`
 * where that is the whole of a buffer, as they are many; else a copy.
 */
export function decodeTexts(saved: Uint8Array): SavedTexts | undefined {
  if (saved.length % 4 !== 0 || saved.length < HEAD * 4) return undefined;
  const { buffer } = saved;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === saved.length;
  const bytes = isWhole ? new Uint8Array(buffer) : new Uint8Array(saved);
  const numbers = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const [format, count = 0, nameBytes = 0] = numbers;
  const [wordTerms = 0, wordCells = 0, wordPool = 0] = numbers.subarray(3);
  const [runTerms = 0, runCells = 0, runPool = 0] = numbers.subarray(6);
  const sum = HEAD + nameBytes / 4 + 2 * count + wordCells + wordPool + runCells + runPool;
  if (format !== FORMAT || sum !== numbers.length) return undefined;
  let at = HEAD + nameBytes / 4;
  const names = namesOf(bytes.subarray(HEAD * 4, at * 4), count);
  if (names === undefined) return undefined;
  const here = (length: number) => bytes.byteOffset + (at += length) * 4 - length * 4;
  const lengths = new Int32Array(bytes.buffer, here(count), count);
  const norms = new Float32Array(bytes.buffer, here(count), count);
  const list = (length: number) => new Uint32Array(bytes.buffer, here(length), length);
  const words = { terms: wordTerms, cells: list(wordCells), pool: list(wordPool) };
  const runs = { terms: runTerms, cells: list(runCells), pool: list(runPool) };
  return { ...names, state: { lengths, norms, words, runs } };
}

function namesOf(
  bytes: Uint8Array,
  count: number,
): Pick<SavedTexts, "ids" | "versions"> | undefined {
  try {
    const [ids, versions] = JSON.parse(decoder.decode(bytes)) as [string[], number[]];
    return ids.length === count && versions.length === count ? { ids, versions } : undefined;
  } catch {
    return undefined;
  }
}
