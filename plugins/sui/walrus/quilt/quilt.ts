import { MAX_INDEX_COLUMNS, sourceSymbols } from "./geometry.ts";
import { patchId } from "./patch_id.ts";

/** Bytes that do not have the expected form. */
export class MalformedBytes extends Error {
  override readonly name = "MalformedBytes";
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads BCS from its beginning; throws {@linkcode MalformedBytes} for what it cannot read. */
class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** How many bytes were read. */
  get at(): number {
    return this.#at;
  }

  /** The next bytes, not copied. */
  bytes(length: number): Uint8Array {
    const start = this.#at;
    if (start + length > this.#bytes.length) throw new MalformedBytes("too short");
    this.#at += length;
    return this.#bytes.subarray(start, this.#at);
  }

  /** A number of so many bytes, little-endian. */
  int(length: number): number {
    return this.bytes(length).reduceRight((sum, byte) => sum * 256 + byte, 0);
  }

  /** A length: ULEB128, here at most 2^28 - 1. */
  length(): number {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.int(1);
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw new MalformedBytes("too long");
  }

  /** Text of a length, which by default precedes it. */
  text(length: number = this.length()): string {
    try {
      return decoder.decode(this.bytes(length));
    } catch {
      throw new MalformedBytes("not UTF-8");
    }
  }
}

/** One blob within a quilt: its name, columns `start` to `end` (exclusive), and size in bytes. */
interface Patch {
  readonly identifier: string;
  readonly start: number;
  readonly end: number;
  readonly bytes: number;
}

/** Version of the index, and of the header of a patch. */
const VERSION = 1;
/** Version (1) and length (4) of the index. */
const INDEX_PREFIX = 5;
/** `version (1) | bytes behind the header (u32) | flags (1)`. */
const HEADER = 6;
/** Flag of a header: tags follow the identifier. */
const HAS_TAGS = 1;
/** Longest identifier that is read. */
const MAX_IDENTIFIER = 1024;

/**
 * A quilt, version 1: a matrix of symbols stored row by row, in which every blob takes whole
 * columns and runs down them, one after the other. Column 0 starts with the index: `version (1) |
 * length (u32, LE) | BCS vector of {end column u16, identifier, tags}`, patches in the order of
 * their columns, the first behind the index. A patch starts with `version (1) | bytes behind the
 * flags (u32, LE) | flags (1) | length (u16, LE) | identifier (BCS)`, and tags where a flag says so.
 * (Layout: Walrus, walrus-core `quilt_encoding`, as `encodeQuilt` of its TypeScript SDK writes it.)
 */
export class Quilt {
  /** In the order of their columns. */
  readonly patches: readonly Patch[];
  readonly #bytes: Uint8Array;
  readonly #rows: number;
  readonly #columns: number;
  readonly #symbol: number;
  /** Where the content of each patch begins, in bytes behind its first column. */
  readonly #contents = new Map<number, number>();

  /**
   * Reads the index and every header.
   * @param bytes the whole quilt, unencoded; not copied.
   * @param shards shards of the network, which decide the matrix.
   * @throws {MalformedBytes} when this is no quilt of this form.
   */
  constructor(bytes: Uint8Array, shards: number) {
    const { rows, columns } = sourceSymbols(shards);
    this.#bytes = bytes;
    this.#rows = rows;
    this.#columns = columns;
    this.#symbol = bytes.length / (rows * columns);
    if (this.#symbol === 0 || !Number.isInteger(this.#symbol) || this.#symbol % 2 !== 0) {
      throw new MalformedBytes("no matrix of symbols");
    }
    this.patches = this.#readIndex();
  }

  get #columnBytes(): number {
    return this.#symbol * this.#rows;
  }

  /** The content of a patch, copied. */
  content(patch: Patch): Uint8Array<ArrayBuffer> {
    return this.#read(patch.start, this.#contents.get(patch.start) ?? 0, patch.bytes);
  }

  static idOf(quiltId: string, { start, end }: Patch): string {
    return patchId({ quiltId, start, end });
  }

  /** Bytes at an offset of what begins at a column. */
  #read(column: number, offset: number, length: number): Uint8Array<ArrayBuffer> {
    const last = column * this.#columnBytes + offset + length;
    if (last > this.#columns * this.#columnBytes) throw new MalformedBytes("beyond the quilt");
    const read = new Uint8Array(length);
    let symbol = column * this.#rows + Math.floor(offset / this.#symbol);
    let within = offset % this.#symbol;
    for (let done = 0; done < length; symbol++) {
      const place = (symbol % this.#rows) * this.#columns + Math.floor(symbol / this.#rows);
      const from = place * this.#symbol + within;
      const some = Math.min(this.#symbol - within, length - done);
      read.set(this.#bytes.subarray(from, from + some), done);
      done += some;
      within = 0;
    }
    return read;
  }

  #readIndex(): Patch[] {
    const prefix = new ByteReader(this.#read(0, 0, INDEX_PREFIX));
    if (prefix.int(1) !== VERSION) throw new MalformedBytes("another version");
    const length = prefix.int(4);
    if (length > MAX_INDEX_COLUMNS * this.#columnBytes) throw new MalformedBytes("a long index");
    const index = new ByteReader(this.#read(0, INDEX_PREFIX, length));
    const count = index.length();
    if (count >= this.#columns) throw new MalformedBytes("more patches than columns");
    let start = Math.ceil((INDEX_PREFIX + length) / this.#columnBytes);
    const patches: Patch[] = [];
    const names = new Set<string>();
    for (let i = 0; i < count; i++) {
      const end = index.int(2);
      const identifier = index.text();
      for (let tags = index.length(); tags > 0; tags--) {
        index.bytes(index.length());
        index.bytes(index.length());
      }
      if (end <= start || end > this.#columns) throw new MalformedBytes("columns out of order");
      if (names.has(identifier)) throw new MalformedBytes("two patches of one name");
      names.add(identifier);
      patches.push({ identifier, start, end, bytes: this.#readHeader(identifier, start, end) });
      start = end;
    }
    if (index.at !== length) throw new MalformedBytes("bytes behind the index");
    return patches;
  }

  /** Checks the header of a patch against the index; returns the length of the content. */
  #readHeader(identifier: string, start: number, end: number): number {
    const space = (end - start) * this.#columnBytes;
    const header = new ByteReader(this.#read(start, 0, Math.min(HEADER + 2, space)));
    if (header.int(1) !== VERSION) throw new MalformedBytes("another version of a patch");
    const behind = header.int(4);
    const flags = header.int(1);
    const nameLength = header.int(2);
    let offset = HEADER + 2 + nameLength;
    if (nameLength > MAX_IDENTIFIER || offset > space) throw new MalformedBytes("a long name");
    const name = new ByteReader(this.#read(start, HEADER + 2, nameLength)).text();
    if (name !== identifier) throw new MalformedBytes("another name than in the index");
    if ((flags & HAS_TAGS) !== 0) {
      if (offset + 2 > space) throw new MalformedBytes("beyond the patch");
      offset += 2 + new ByteReader(this.#read(start, offset, 2)).int(2);
    }
    const bytes = HEADER + behind - offset;
    if (bytes < 0 || HEADER + behind > space || HEADER + behind <= space - this.#columnBytes) {
      throw new MalformedBytes("a length that does not fit its columns");
    }
    this.#contents.set(start, offset);
    return bytes;
  }
}
