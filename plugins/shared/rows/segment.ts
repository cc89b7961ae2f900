import { SvcError } from "../../../src/errors.ts";
import type { IndexEntry, Scope, Source, Standing } from "../../../src/interfaces/mod.ts";

/**
 * Memories of one scope as one run of bytes, little-endian:
 *
 * `format (u32) | dimensions (u32) | header length (u32) | header (JSON) | padding to 4 |
 * vectors (f32, one after the other) | payloads (one after the other)`
 *
 * The header holds one array a column, so that 256 memories open with one parse and no copying.
 */
interface Columns {
  readonly id: string[];
  readonly version: number[];
  /** Number of vectors. */
  readonly windows: number[];
  /** Length of the payload in bytes. */
  readonly payload: number[];
  readonly blobId: (string | null)[];
  readonly keyId: string[];
  readonly createdAt: number[];
  readonly updatedAt: number[];
  readonly occurredAt: (number | null)[];
  readonly expiresAt: (number | null)[];
  readonly importance: number[];
  readonly source: Source[];
  readonly bytes: number[];
  /** Absent where an earlier version packed them, and where none has one. */
  readonly standing?: (Standing | null)[];
}

const FORMAT = 1;
const PREFIX = 12;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Packs memories of one scope.
 * @throws {SvcError} `dimension_mismatch` when a vector has another length than `dimensions`.
 */
export function packSegment(entries: readonly IndexEntry[], dimensions: number): Uint8Array {
  const vectors = entries.flatMap((entry) => entry.vectors);
  if (vectors.some((vector) => vector.length !== dimensions)) {
    throw new SvcError("dimension_mismatch", `A vector must have ${dimensions} dimensions`);
  }
  const columns: Columns = {
    id: entries.map((entry) => entry.id),
    version: entries.map((entry) => entry.version),
    windows: entries.map((entry) => entry.vectors.length),
    payload: entries.map((entry) => entry.payload.length),
    blobId: entries.map((entry) => entry.blobId ?? null),
    keyId: entries.map((entry) => entry.keyId),
    createdAt: entries.map((entry) => entry.createdAt),
    updatedAt: entries.map((entry) => entry.updatedAt),
    occurredAt: entries.map((entry) => entry.occurredAt ?? null),
    expiresAt: entries.map((entry) => entry.expiresAt ?? null),
    importance: entries.map((entry) => entry.importance),
    source: entries.map((entry) => entry.source),
    bytes: entries.map((entry) => entry.bytes),
    ...(entries.some((entry) => entry.standing !== undefined)
      ? { standing: entries.map((entry) => entry.standing ?? null) }
      : {}),
  };
  const header = encoder.encode(JSON.stringify(columns));
  const vectorsAt = align(PREFIX + header.length);
  const payloadsAt = vectorsAt + vectors.length * dimensions * 4;
  const size = entries.reduce((sum, entry) => sum + entry.payload.length, payloadsAt);
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, FORMAT, true);
  view.setUint32(4, dimensions, true);
  view.setUint32(8, header.length, true);
  bytes.set(header, PREFIX);
  const numbers = new Float32Array(bytes.buffer, vectorsAt, vectors.length * dimensions);
  vectors.forEach((vector, i) => numbers.set(vector, i * dimensions));
  let at = payloadsAt;
  for (const { payload } of entries) {
    bytes.set(payload, at);
    at += payload.length;
  }
  return bytes;
}

/** Packed memories, read in place: vectors and payloads are views of the packed bytes. */
export class Segment {
  readonly #scope: Scope;
  readonly #columns: Columns;
  readonly #dimensions: number;
  readonly #numbers: Float32Array;
  readonly #bytes: Uint8Array;
  /** Where each memory's first vector is, counted in vectors; one more entry than memories. */
  readonly #firstVector: Uint32Array;
  /** Where each memory's payload starts, in bytes; one more entry than memories. */
  readonly #firstByte: Uint32Array;
  readonly #links: ReadonlyMap<string, string>;
  readonly #outdated: boolean;

  /**
   * Reads what {@linkcode packSegment} wrote.
   *
   * @param links Blob ids by memory id that were recorded after packing.
   * @param outdated The vectors are of another model: they are left out of what is read.
   * @throws {SvcError} `storage_unavailable` for an unknown format.
   */
  constructor(
    scope: Scope,
    packed: Uint8Array,
    links: ReadonlyMap<string, string> = new Map(),
    outdated = false,
  ) {
    const { buffer, byteOffset, length } = packed;
    // Never a Buffer: its slice would share memory with the packed bytes.
    const bytes = byteOffset % 4 === 0
      ? new Uint8Array(buffer, byteOffset, length)
      : new Uint8Array(packed);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < PREFIX || view.getUint32(0, true) !== FORMAT) {
      throw new SvcError("storage_unavailable", "index.db has an unknown format", {
        retryable: false,
      });
    }
    this.#scope = { owner: scope.owner, namespace: scope.namespace };
    this.#bytes = bytes;
    this.#links = links;
    this.#outdated = outdated;
    this.#dimensions = view.getUint32(4, true);
    const headerEnd = PREFIX + view.getUint32(8, true);
    this.#columns = JSON.parse(decoder.decode(bytes.subarray(PREFIX, headerEnd)));
    this.#firstVector = offsets(this.#columns.windows, 0);
    const numbers = this.#firstVector.at(-1)! * this.#dimensions;
    const vectorsAt = align(headerEnd);
    this.#numbers = new Float32Array(bytes.buffer, bytes.byteOffset + vectorsAt, numbers);
    this.#firstByte = offsets(this.#columns.payload, vectorsAt + numbers * 4);
  }

  get dimensions(): number {
    return this.#dimensions;
  }

  get size(): number {
    return this.#columns.id.length;
  }

  id(index: number): string {
    return this.#columns.id[index]!;
  }

  /** Position of a memory, or -1. */
  indexOf(id: string): number {
    return this.#columns.id.indexOf(id);
  }

  /** Every memory; vectors and payloads are views of the packed bytes. */
  entries(): IndexEntry[] {
    return this.#columns.id.map((_, index) => this.entry(index));
  }

  /** One memory; its vectors and payload are views of the packed bytes. */
  entry(index: number): IndexEntry {
    const c = this.#columns;
    const id = c.id[index]!;
    const blobId = this.#links.get(id) ?? c.blobId[index];
    const occurredAt = c.occurredAt[index];
    const expiresAt = c.expiresAt[index];
    const vectors: Float32Array[] = [];
    const end = this.#outdated ? 0 : this.#firstVector[index + 1]!;
    for (let v = this.#firstVector[index]!; v < end; v++) {
      vectors.push(this.#numbers.subarray(v * this.#dimensions, (v + 1) * this.#dimensions));
    }
    // Without spreads: thousands are made at once.
    const entry: { -readonly [Key in keyof IndexEntry]: IndexEntry[Key] } = {
      owner: this.#scope.owner,
      namespace: this.#scope.namespace,
      id,
      version: c.version[index]!,
      vectors,
      payload: this.#bytes.subarray(this.#firstByte[index]!, this.#firstByte[index + 1]!),
      keyId: c.keyId[index]!,
      createdAt: c.createdAt[index]!,
      updatedAt: c.updatedAt[index]!,
      importance: c.importance[index]!,
      source: c.source[index]!,
      bytes: c.bytes[index]!,
    };
    if (typeof blobId === "string") entry.blobId = blobId;
    if (typeof occurredAt === "number") entry.occurredAt = occurredAt;
    if (typeof expiresAt === "number") entry.expiresAt = expiresAt;
    const standing = c.standing?.[index];
    if (standing) entry.standing = standing;
    return entry;
  }

  /** One memory that shares no memory with the packed bytes. */
  copy(index: number): IndexEntry {
    const entry = this.entry(index);
    return {
      ...entry,
      vectors: entry.vectors.map((vector) => vector.slice()),
      payload: entry.payload.slice(),
    };
  }

  /** Largest dot product of a query with the windows of a memory; -Infinity without windows. */
  similarity(index: number, query: Float32Array): number {
    if (this.#outdated) return -Infinity;
    const numbers = this.#numbers;
    const dimensions = this.#dimensions;
    let best = -Infinity;
    for (let v = this.#firstVector[index]!; v < this.#firstVector[index + 1]!; v++) {
      const at = v * dimensions;
      let sum = 0;
      for (let d = 0; d < dimensions; d++) sum += numbers[at + d]! * query[d]!;
      if (sum > best) best = sum;
    }
    return best;
  }
}

function align(at: number): number {
  return (at + 3) & ~3;
}

function offsets(lengths: readonly number[], start: number): Uint32Array {
  const out = new Uint32Array(lengths.length + 1);
  out[0] = start;
  lengths.forEach((length, i) => out[i + 1] = out[i]! + length);
  return out;
}
