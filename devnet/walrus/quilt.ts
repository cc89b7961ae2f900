import { bcs } from "@mysten/sui/bcs";
import { blobIdNumber, blobIdText, fromUrlBase64, toUrlBase64 } from "./blob_id.ts";
import { QuiltIndex, QuiltPatchId } from "./layouts.ts";
import { sourceSymbols } from "./sizes.ts";

// A quilt is a matrix of symbols, n - 2f rows by n - f columns, row after row. Its index and its
// patches are written down the columns, each from the top of a column: the index from column 0.

const VERSION = 1;
const HAS_TAGS = 1;

/** A patch, as the index has it. */
export interface PatchEntry {
  /** Name in the quilt. */
  readonly identifier: string;
  /** First column. */
  readonly start: number;
  /** Column after the last. */
  readonly end: number;
  /** Tags. */
  readonly tags: ReadonlyMap<string, string>;
}

/** Where a patch is. */
export interface PatchPlace {
  /** Blob id of its quilt. */
  readonly quiltId: string;
  /** First column. */
  readonly start: number;
  /** Column after the last. */
  readonly end: number;
}

/** Text of a quilt patch id. */
export function patchIdText({ quiltId, start, end }: PatchPlace): string {
  return toUrlBase64(
    QuiltPatchId.serialize({
      quiltId: blobIdNumber(quiltId) ?? 0n,
      version: VERSION,
      startIndex: start,
      endIndex: end,
    }).toBytes(),
  );
}

/** Where the patch of an id is; undefined when the text is no patch id. */
export function parsePatchId(text: string): PatchPlace | undefined {
  const bytes = fromUrlBase64(text);
  if (bytes?.length !== 37) return undefined;
  const { quiltId, version, startIndex, endIndex } = QuiltPatchId.parse(bytes);
  if (version !== VERSION) return undefined;
  return { quiltId: blobIdText(quiltId), start: startIndex, end: endIndex };
}

/** Bytes read down the columns of a quilt. */
class ColumnReader {
  readonly #quilt: Uint8Array;
  readonly #rows: number;
  readonly #columns: number;
  readonly #symbol: number;
  #at: number;

  constructor(quilt: Uint8Array, shards: number, column: number) {
    const { primary, secondary } = sourceSymbols(shards);
    this.#quilt = quilt;
    this.#rows = primary;
    this.#columns = secondary;
    this.#symbol = quilt.length / (primary * secondary);
    if (this.#symbol === 0 || !Number.isInteger(this.#symbol)) throw new RangeError("no quilt");
    this.#at = column * this.columnSize;
  }

  get columnSize(): number {
    return this.#rows * this.#symbol;
  }

  read(length: number): Uint8Array<ArrayBuffer> {
    if (this.#at + length > this.#quilt.length) throw new RangeError("past the end of the quilt");
    const out = new Uint8Array(length);
    for (let done = 0; done < length;) {
      const symbol = Math.floor(this.#at / this.#symbol);
      const inSymbol = this.#at % this.#symbol;
      const take = Math.min(this.#symbol - inSymbol, length - done);
      const cell = (symbol % this.#rows) * this.#columns + Math.floor(symbol / this.#rows);
      const from = cell * this.#symbol + inSymbol;
      out.set(this.#quilt.subarray(from, from + take), done);
      done += take;
      this.#at += take;
    }
    return out;
  }

  number(size: 1 | 2 | 4): number {
    return this.read(size).reduceRight((sum, byte) => sum * 256 + byte, 0);
  }
}

/** The patches of a quilt; undefined when the bytes are none. */
export function readIndex(quilt: Uint8Array, shards: number): PatchEntry[] | undefined {
  try {
    const reader = new ColumnReader(quilt, shards, 0);
    if (reader.number(1) !== VERSION) return undefined;
    const length = reader.number(4);
    const patches = QuiltIndex.parse(reader.read(length));
    let start = Math.ceil((5 + length) / reader.columnSize);
    return patches.map(({ identifier, endIndex, tags }) => {
      const entry = { identifier, start, end: endIndex, tags };
      start = endIndex;
      return entry;
    });
  } catch {
    return undefined;
  }
}

/** The bytes of a patch; undefined when they cannot be read. */
export function readPatch(
  quilt: Uint8Array,
  shards: number,
  { start }: PatchEntry,
): Uint8Array<ArrayBuffer> | undefined {
  try {
    // Header: version (1), length of what follows (4), mask (1); then the identifier with its
    // length (2) and, if the mask says so, the tags with theirs (2).
    const reader = new ColumnReader(quilt, shards, start);
    if (reader.number(1) !== VERSION) return undefined;
    let length = reader.number(4);
    const mask = reader.number(1);
    for (const part of (mask & HAS_TAGS) === 0 ? ["identifier"] : ["identifier", "tags"]) {
      const size = reader.number(2);
      const bytes = reader.read(size);
      if (part === "identifier") bcs.string().parse(bytes);
      length -= 2 + size;
    }
    return reader.read(length);
  } catch {
    return undefined;
  }
}
