import type { LexicalState } from "./lexical_index.ts";

/**
 * What stands in front: raised whenever words, stems, letter runs or their hashes change, since
 * numbers of another analysis mean other words.
 */
const FORMAT = 0x73_76_74_02;
/** Numbers of the head: format, documents, and terms and chunks of words and of runs. */
const HEAD = 6;

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

/** What the texts of a scope came to at one moment. */
export interface TextSnapshot {
  /** Bytes of all pieces. */
  readonly bytes: number;
  /** To be copied one after the other; meanwhile the index may change. Their lengths are multiples of 4. */
  readonly pieces: Iterable<Uint8Array<ArrayBuffer>>;
}

/**
 * What the texts of a scope came to: a piece with head, lengths, norms and the names as JSON,
 * filled up with blanks, then the tables and the chunks of the lists, in the byte order of the machine: they are read on the
 * machine that wrote them. The chunks, which are most of it, are those of the index, as
 * {@linkcode Postings.state} allows.
 */
export function snapshotTexts(
  { lengths, norms, words, runs }: LexicalState,
  memoryOf: (document: number) => SavedMemory,
): TextSnapshot {
  const memories = Array.from(lengths, (_, document) => {
    const { id, version } = memoryOf(document);
    return { id, version };
  });
  const json = JSON.stringify([memories.map(({ id }) => id), memories.map((m) => m.version)]);
  const padded = encoder.encode(json.padEnd(json.length + 3));
  const names = padded.subarray(0, padded.length & ~3);
  const front = new Uint8Array(4 * (HEAD + 2 * lengths.length) + names.length);
  new Uint32Array(front.buffer, 0, HEAD).set([FORMAT, lengths.length]);
  new Uint32Array(front.buffer, 0, HEAD).set(
    [words, runs].flatMap(({ terms, chunks }) => [terms, chunks.length]),
    2,
  );
  let at = 4 * HEAD;
  for (const part of [bytesOf(lengths), bytesOf(norms), names]) {
    front.set(part, at);
    at += part.length;
  }
  const tables = [words.cells.slice(), runs.cells.slice()];
  const pieces = [front, ...[...tables, ...words.chunks, ...runs.chunks].map(bytesOf)];
  return { bytes: pieces.reduce((sum, { length }) => sum + length, 0), pieces };
}

/**
 * What the pieces of {@linkcode snapshotTexts} hold; `undefined` for anything else. Their numbers
 * are taken over where they stand, as they are many.
 */
export function decodeTexts(pieces: readonly Uint8Array[]): SavedTexts | undefined {
  const [first, ...rest] = pieces;
  if (first === undefined || first.length < 4 * HEAD) return undefined;
  const front = new Uint8Array(first);
  const [format, count = 0, wordTerms = 0, wordChunks = 0, runTerms = 0, runChunks = 0] =
    new Uint32Array(front.buffer, 0, HEAD);
  const numbers = HEAD + 2 * count;
  if (format !== FORMAT || numbers * 4 > front.length) return undefined;
  if (rest.length !== 2 + wordChunks + runChunks) return undefined;
  const names = namesOf(front.subarray(numbers * 4), count);
  const arrays = rest.map(numbersOf).filter((array) => array !== undefined);
  const [wordCells, runCells, ...chunks] = arrays;
  if (names === undefined || arrays.length !== rest.length) return undefined;
  if (wordCells === undefined || runCells === undefined) return undefined;
  const lengths = new Int32Array(front.buffer, 4 * HEAD, count);
  const norms = new Float32Array(front.buffer, 4 * (HEAD + count), count);
  const words = { terms: wordTerms, cells: wordCells, chunks: chunks.slice(0, wordChunks) };
  const runs = { terms: runTerms, cells: runCells, chunks: chunks.slice(wordChunks) };
  return { ...names, state: { lengths, norms, words, runs } };
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** The numbers in bytes, where they are if they can be read there. */
function numbersOf(bytes: Uint8Array): Uint32Array<ArrayBuffer> | undefined {
  if (bytes.length % 4 !== 0) return undefined;
  const { buffer, byteOffset } = bytes;
  if (byteOffset % 4 === 0 && buffer instanceof ArrayBuffer) {
    return new Uint32Array(buffer, byteOffset, bytes.length / 4);
  }
  return new Uint32Array(new Uint8Array(bytes).buffer);
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
