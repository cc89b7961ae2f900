import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import type { IndexEntry } from "../../interfaces/mod.ts";
import type { LexicalState } from "./lexical_index.ts";

/**
 * What a record begins with: raised whenever its layout, words, stems, letter runs or their hashes
 * change, since numbers of another analysis mean other words.
 */
const FORMAT = 0x73_76_74_07;
/** A record takes no further piece once it has so many bytes: sealing it takes milliseconds. */
const RECORD_BYTES = 1024 * 1024;
/** Most bytes of a piece of a table: as many as a chunk has. */
const PIECE_BYTES = 256 * 1024;
/** Numbers of a record's head: format, 3 random ones of its snapshot, its place there, its pieces. */
const HEAD = 6;
const PLACE_AT = 4;
const COUNT_AT = 5;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What was saved, by document. */
interface SavedWords {
  readonly state: LexicalState;
  readonly ids: readonly string[];
  readonly versions: readonly number[];
}

/** Terms, numbers of the table, and chunks of postings. */
type Sizes = readonly [terms: number, cells: number, chunks: number];

/** The first piece, as JSON. */
type Names = readonly [
  ids: readonly string[],
  versions: readonly number[],
  words: Sizes,
  runs: Sizes,
  languages: number,
];

/**
 * What the texts of a scope came to, in records. The pieces in them are names as JSON, filled up with
 * blanks, lengths, norms, the tables of words and of runs, and the chunks of their lists, in the byte
 * order of the machine: one of another order does not know the format. A record is made when it is
 * asked for, and meanwhile the index may change, as {@linkcode Postings.state} allows.
 *
 * @param maxBytes `undefined` is answered where it would be more, without the names.
 */
export function snapshotWords(
  { lengths, norms, languages, words, runs }: LexicalState,
  memoryOf: (document: number) => Pick<IndexEntry, "id" | "version">,
  maxBytes = Infinity,
): Iterable<Uint8Array<ArrayBuffer>> | undefined {
  const tables = [lengths, norms, words.cells, runs.cells];
  const chunks = [...words.chunks, ...runs.chunks];
  if ([...tables, ...chunks].reduce((sum, { byteLength }) => sum + byteLength, 0) > maxBytes) {
    return undefined;
  }
  const memories = Array.from(lengths, (_, document) => memoryOf(document));
  const names: Names = [
    memories.map(({ id }) => id),
    memories.map(({ version }) => version),
    [words.terms, words.cells.length, words.chunks.length],
    [runs.terms, runs.cells.length, runs.chunks.length],
    languages,
  ];
  const json = encoder.encode(JSON.stringify(names) + "   ");
  const first = json.subarray(0, json.length & ~3);
  const copies = tables.flatMap((table) => cut(bytesOf(table.slice())));
  return recordsOf([first, ...copies, ...chunks.map(bytesOf)]);
}

function cut(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  return Array.from(
    { length: Math.ceil(bytes.length / PIECE_BYTES) },
    (_, i) => bytes.subarray(i * PIECE_BYTES, (i + 1) * PIECE_BYTES),
  );
}

/** Puts pieces together, whose lengths are multiples of 4: head, length of each, and the pieces. */
function* recordsOf(pieces: readonly Uint8Array[]): Generator<Uint8Array<ArrayBuffer>> {
  const head = new Uint32Array(HEAD);
  new Uint8Array(head.buffer).set(randomBytes(4 * PLACE_AT));
  head[0] = FORMAT;
  for (let next = 0; next < pieces.length; head[PLACE_AT]!++) {
    const start = next;
    for (let bytes = 0; bytes < RECORD_BYTES && next < pieces.length;) {
      bytes += pieces[next++]!.length;
    }
    const own = pieces.slice(start, next);
    head[COUNT_AT] = own.length;
    const numbers = Uint32Array.of(...head, ...own.map(({ length }) => length));
    const record = new Uint8Array(
      own.reduce((sum, { length }) => sum + length, numbers.byteLength),
    );
    record.set(bytesOf(numbers));
    let at = numbers.byteLength;
    for (const piece of own) {
      record.set(piece, at);
      at += piece.length;
    }
    yield record;
  }
}

/**
 * What the records of {@linkcode snapshotWords} hold; `undefined` for anything else, as of two
 * snapshots or in another order. Numbers are taken over where they stand, as they are many.
 */
export function decodeWords(records: readonly Uint8Array[]): SavedWords | undefined {
  const [first, ...pieces] = piecesOf(records) ?? [];
  if (first === undefined) return undefined;
  const [ids, versions, words, runs, languages]: Names = JSON.parse(decoder.decode(first));
  const table = (numbers: number): Uint8Array<ArrayBuffer> =>
    Buffer.concat(pieces.splice(0, Math.ceil(4 * numbers / PIECE_BYTES)));
  const lengths = numbersOf(table(ids.length), Int32Array);
  const norms = numbersOf(table(ids.length), Float32Array);
  const [wordCells, runCells] = [words, runs].map(([, n]) => numbersOf(table(n), Uint32Array));
  if (pieces.length !== words[2] + runs[2]) return undefined;
  const chunks = pieces.map((piece) => numbersOf(piece, Uint32Array));
  const state = {
    lengths,
    norms,
    languages,
    words: { terms: words[0], cells: wordCells!, chunks: chunks.slice(0, words[2]) },
    runs: { terms: runs[0], cells: runCells!, chunks: chunks.slice(words[2]) },
  };
  return { ids, versions, state };
}

/** The pieces, not copied; `undefined` unless the records are of one snapshot and in order. */
function piecesOf(records: readonly Uint8Array[]): Uint8Array<ArrayBuffer>[] | undefined {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let snapshot: string | undefined;
  for (const [place, record] of records.entries()) {
    // Where numbers can be read.
    const bytes = record.byteOffset % 4 === 0 ? bytesOf(record) : new Uint8Array(record);
    if (bytes.length < 4 * HEAD) return undefined;
    const head = new Uint32Array(bytes.buffer, bytes.byteOffset, HEAD);
    const mark = head.subarray(0, PLACE_AT).join();
    if (head[0] !== FORMAT || head[PLACE_AT] !== place || mark !== (snapshot ??= mark)) {
      return undefined;
    }
    const count = head[COUNT_AT]!;
    let at = 4 * (HEAD + count);
    if (at > bytes.length) return undefined;
    for (const length of new Uint32Array(bytes.buffer, bytes.byteOffset + 4 * HEAD, count)) {
      if (at + length > bytes.length || length % 4 !== 0) return undefined;
      pieces.push(bytes.subarray(at, at += length));
    }
    if (at !== bytes.length) return undefined;
  }
  return pieces;
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** The numbers in a piece, where they are. */
function numbersOf<T>(
  { buffer, byteOffset, length }: Uint8Array<ArrayBuffer>,
  type: new (buffer: ArrayBuffer, byteOffset: number, length: number) => T,
): T {
  return new type(buffer, byteOffset, length / 4);
}

/** Slot of each document whose memory is here in the same version, else -1; and how many are not here. */
export function placed(
  { ids, versions }: Pick<SavedWords, "ids" | "versions">,
  entries: readonly Pick<IndexEntry, "id" | "version">[],
  slotOf: ReadonlyMap<string, number>,
): { readonly slots: Int32Array; readonly unknown: number } {
  const slots = new Int32Array(ids.length).fill(-1);
  let unknown = 0;
  for (let document = 0; document < slots.length; document++) {
    const id = ids[document]!;
    // The order is mostly the same, and a look-up in the map costs several times as much.
    const slot = entries[document]?.id === id ? document : slotOf.get(id);
    if (slot === undefined) unknown++;
    else if (entries[slot]!.version === versions[document]) slots[document] = slot;
  }
  return { slots, unknown };
}
