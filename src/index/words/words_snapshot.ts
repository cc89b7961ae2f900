import { Buffer } from "node:buffer";
import type { IndexEntry } from "../../interfaces/mod.ts";
import type { LexicalState } from "./lexical_index.ts";

/**
 * What stands in front: raised whenever words, stems, letter runs or their hashes change, since
 * numbers of another analysis mean other words.
 */
const FORMAT = 0x73_76_74_04;
/**
 * Numbers of the head: format, documents, bytes of the names; terms, cells and chunks of words, and
 * the same of runs.
 */
const HEAD = 9;
/** Most bytes of a piece: as many as a chunk has. */
const PIECE_BYTES = 256 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What was saved, by document. */
interface SavedWords {
  /** What the texts came to. */
  readonly state: LexicalState;
  /** Ids of the memories. */
  readonly ids: readonly string[];
  /** Their versions. */
  readonly versions: readonly number[];
}

/**
 * What the texts of a scope came to: a piece of numbers; lengths, norms, the names as JSON, filled
 * up with blanks, and the tables, each in as many pieces as it takes; then the chunks of the lists.
 * In the byte order of the machine: they are read on the machine that wrote them. The chunks, which
 * are most of it, are those of the index, as {@linkcode Postings.state} allows: the pieces are to be
 * copied one after the other, and meanwhile the index may change.
 *
 * @returns pieces of at most 256 KiB, their lengths multiples of 4.
 * @param maxBytes `undefined` is answered where it would be more, without the names.
 */
export function snapshotWords(
  { lengths, norms, words, runs }: LexicalState,
  memoryOf: (document: number) => Pick<IndexEntry, "id" | "version">,
  maxBytes = Infinity,
): Uint8Array<ArrayBuffer>[] | undefined {
  const all = [lengths, norms, words.cells, runs.cells, ...words.chunks, ...runs.chunks];
  if (all.reduce((sum, { byteLength }) => sum + byteLength, 0) > maxBytes) return undefined;
  const memories = Array.from(lengths, (_, document) => {
    const { id, version } = memoryOf(document);
    return { id, version };
  });
  const json = JSON.stringify([memories.map(({ id }) => id), memories.map((m) => m.version)]);
  const padded = encoder.encode(json.padEnd(json.length + 3));
  const names = padded.subarray(0, padded.length & ~3);
  const head = Uint32Array.of(
    ...[FORMAT, lengths.length, names.length],
    ...[words, runs].flatMap(({ terms, cells, chunks }) => [terms, cells.length, chunks.length]),
  );
  const copied = [lengths.slice(), norms.slice(), names, words.cells.slice(), runs.cells.slice()];
  const rest = [...words.chunks, ...runs.chunks];
  return [bytesOf(head), ...copied.map(bytesOf).flatMap(cut), ...rest.map(bytesOf)];
}

/**
 * What the pieces of {@linkcode snapshotWords} hold; `undefined` for anything else. Their numbers
 * are taken over where they stand, as they are many.
 */
export function decodeWords(pieces: readonly Uint8Array[]): SavedWords | undefined {
  const head = numbersOf(pieces[0] ?? new Uint8Array());
  if (head?.length !== HEAD || head[0] !== FORMAT) return undefined;
  const [, count = 0, nameBytes = 0, ...sizes] = head;
  const [wordTerms = 0, wordCells = 0, wordChunks = 0, runTerms = 0, runCells = 0, runChunks = 0] =
    sizes;
  let next = 1;
  const section = (length: number) => {
    const taken = pieces.slice(next, next += Math.ceil(length / PIECE_BYTES));
    return joined(taken, length);
  };
  const lengths = section(4 * count);
  const norms = section(4 * count);
  const names = section(nameBytes);
  const tables = [section(4 * wordCells), section(4 * runCells)];
  const arrays = [...tables, ...pieces.slice(next)].map((bytes) => bytes && numbersOf(bytes));
  if (lengths === undefined || norms === undefined || names === undefined) return undefined;
  if (arrays.length !== 2 + wordChunks + runChunks) return undefined;
  const known = namesOf(names, count);
  const [wordTable, runTable, ...chunks] = arrays.filter((array) => array !== undefined);
  if (known === undefined || chunks.length !== wordChunks + runChunks) return undefined;
  const words = { terms: wordTerms, cells: wordTable!, chunks: chunks.slice(0, wordChunks) };
  const runs = { terms: runTerms, cells: runTable!, chunks: chunks.slice(wordChunks) };
  const state = {
    lengths: new Int32Array(lengths.buffer, lengths.byteOffset, count),
    norms: new Float32Array(norms.buffer, norms.byteOffset, count),
    words,
    runs,
  };
  return { ...known, state };
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}

function cut(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  return Array.from(
    { length: Math.ceil(bytes.length / PIECE_BYTES) },
    (_, i) => bytes.subarray(i * PIECE_BYTES, (i + 1) * PIECE_BYTES),
  );
}

/** Pieces that are so long together; aligned for numbers, as a `Buffer` is. */
function joined(pieces: readonly Uint8Array[], length: number): Uint8Array | undefined {
  if (pieces.reduce((sum, piece) => sum + piece.length, 0) !== length) return undefined;
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined && first.byteOffset % 4 === 0) return first;
  return Buffer.concat(pieces, length);
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
): Pick<SavedWords, "ids" | "versions"> | undefined {
  try {
    const [ids, versions] = JSON.parse(decoder.decode(bytes)) as [string[], number[]];
    return ids.length === count && versions.length === count ? { ids, versions } : undefined;
  } catch {
    return undefined;
  }
}
