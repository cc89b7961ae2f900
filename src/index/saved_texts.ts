import type { LexicalState } from "./lexical_index.ts";

/**
 * What stands in front: raised whenever words, stems, letter runs or their hashes change, since
 * numbers of another analysis mean other words.
 */
const FORMAT = 0x73_76_74_02;
/** Numbers of the head: format, documents, and terms, cells and pool of words and of runs. */
const HEAD = 8;
/** Bytes of a piece: put together and sealed in less than a millisecond. */
const PIECE_BYTES = 256 * 1024;

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
  /** Bytes of all pieces without the names. */
  readonly bytes: number;
  /** The pieces, each put together when it is asked for. */
  readonly pieces: Iterable<Uint8Array<ArrayBuffer>>;
}

/**
 * What the texts of a scope came to: head, lengths, norms, lists and names as JSON, in the byte
 * order of the machine: they are read on the machine that wrote them. The lists, which are most of
 * it, are copied piece by piece, as {@linkcode Postings.state} allows.
 */
export function snapshotTexts(
  { lengths, norms, words, runs }: LexicalState,
  memoryOf: (document: number) => SavedMemory,
): TextSnapshot {
  const head = Uint32Array.of(
    FORMAT,
    lengths.length,
    ...[words, runs].flatMap(({ terms, cells, pool }) => [terms, cells.length, pool.length]),
  );
  const memories = Array.from(lengths, (_, document) => {
    const { id, version } = memoryOf(document);
    return { id, version };
  });
  const parts = [
    ...[head, lengths.slice(), norms.slice()],
    ...[words.cells.slice(), words.pool, runs.cells.slice(), runs.pool],
  ].map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength));
  const names = () => {
    return encoder.encode(
      JSON.stringify([memories.map(({ id }) => id), memories.map((m) => m.version)]),
    );
  };
  return {
    bytes: parts.reduce((sum, { length }) => sum + length, 0),
    pieces: piecesOf(parts, names),
  };
}

/** Cuts what stands one after the other into pieces; the last part is made when it is needed. */
function* piecesOf(
  parts: readonly Uint8Array[],
  last: () => Uint8Array,
): Generator<Uint8Array<ArrayBuffer>> {
  let piece = new Uint8Array(PIECE_BYTES);
  let filled = 0;
  for (let i = 0; i <= parts.length; i++) {
    const part = parts[i] ?? last();
    for (let at = 0; at < part.length;) {
      const take = Math.min(part.length - at, PIECE_BYTES - filled);
      piece.set(part.subarray(at, at + take), filled);
      at += take;
      filled += take;
      if (filled < PIECE_BYTES) continue;
      yield piece;
      piece = new Uint8Array(PIECE_BYTES);
      filled = 0;
    }
  }
  if (filled > 0) yield piece.slice(0, filled);
}

/**
 * What the pieces of {@linkcode snapshotTexts} hold together; `undefined` for anything else. Its
 * numbers are those of `saved` where that is the whole of a buffer, as they are many; else a copy.
 */
export function decodeTexts(saved: Uint8Array): SavedTexts | undefined {
  if (saved.length < HEAD * 4) return undefined;
  const { buffer } = saved;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === saved.length;
  const bytes = isWhole ? new Uint8Array(buffer) : new Uint8Array(saved);
  const [format, count = 0, ...sizes] = new Uint32Array(bytes.buffer, 0, HEAD);
  const [wordTerms = 0, wordCells = 0, wordPool = 0, runTerms = 0, runCells = 0, runPool = 0] =
    sizes;
  const numbers = HEAD + 2 * count + wordCells + wordPool + runCells + runPool;
  if (format !== FORMAT || numbers * 4 > bytes.length) return undefined;
  const names = namesOf(bytes.subarray(numbers * 4), count);
  if (names === undefined) return undefined;
  let at = HEAD;
  const next = (length: number) => (at += length) * 4 - length * 4;
  const lengths = new Int32Array(bytes.buffer, next(count), count);
  const norms = new Float32Array(bytes.buffer, next(count), count);
  const list = (length: number) => new Uint32Array(bytes.buffer, next(length), length);
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
