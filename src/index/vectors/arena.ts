import { SvcError } from "../../errors.ts";
import {
  byteRowOffset,
  type DotKernel,
  floatOffset,
  type KernelBuild,
  openKernel,
  rowOffset,
} from "./dot_kernel.ts";
import { GrowingMemory, openPrefault, PAGE, type Prefault } from "./growing_memory.ts";

/** Rows of floats in a block: few, because the last block of each scope is half empty. */
export const FLOAT_ROWS = 16;
/** Rows of bytes in a block: both kinds of block have one size, so that they share a free list. */
export const BYTE_ROWS: number = 4 * FLOAT_ROWS;
/** Bytes an arena can address. */
const ARENA_LIMIT: number = 2 ** 32;

/** Bytes of a query are 1 to 127: this is its zero. */
const QUERY_ZERO = 64;
/** With this many free bytes no memory is made ready ahead. */
const ENOUGH = 2 * 2 ** 20;

interface ArenaOptions {
  /** Most bytes of memory, at most {@linkcode ARENA_LIMIT}. */
  readonly limit?: number;
  /** Build of the kernel; the best one when absent. */
  readonly build?: KernelBuild;
  /** Takes memory ahead; the platform's when absent. */
  readonly prefault?: Prefault;
}

/** How far the bytes of a vector are from its floats. */
export interface Rounding {
  /** Length of the vector. */
  readonly length: number;
  /** Length of the difference between the vector and its rounded copy. */
  readonly error: number;
}

/** A row of bytes: its bytes times the scale are the numbers, rounded. */
export interface RoundedRow extends Rounding {
  /** What one step of a byte stands for. */
  readonly scale: number;
  /** What the zero of a query's bytes adds to the product with this row. */
  readonly zero: number;
}

/**
 * Resident vectors of many scopes: one memory cut into blocks of {@linkcode FLOAT_ROWS} rows of
 * floats or {@linkcode BYTE_ROWS} rows of bytes. One memory for all, because each reserves gigabytes
 * of address space. A block is known by its byte offset. The memory never shrinks; released blocks
 * are used again.
 *
 * Rows of bytes take a quarter of the space and are read in a quarter of the time. They lie in blocks
 * of their own: where bytes and floats take turns, every gap costs the processor's prefetching anew.
 */
export class Arena {
  readonly dimensions: number;
  /** Numbers of a row, floats or bytes: `dimensions` rounded up to a multiple of 16. */
  readonly stride: number;
  readonly blockBytes: number;
  readonly kernel: DotKernel;
  readonly #memory: GrowingMemory;
  readonly #queryBytes: number;
  readonly #scores: number;
  readonly #source: number;
  readonly #told: number;
  #queryScale = 0;
  #queryRounding: Rounding = { length: 0, error: 0 };
  readonly #free: number[] = [];
  #floats: Float32Array;
  #integers: Int32Array;
  #bytes: Int8Array;

  constructor(dimensions: number, options: ArenaOptions = {}) {
    this.dimensions = dimensions;
    this.stride = (dimensions + 15) & ~15;
    this.blockBytes = FLOAT_ROWS * this.stride * 4;
    // The query comes first, as floats and as bytes, then the scores of one block, then a vector to be
    // written, what the kernel tells of a row that it rounded, and the blocks.
    this.#queryBytes = align(this.stride * 4);
    this.#scores = align(this.#queryBytes + this.stride);
    this.#source = align(this.#scores + BYTE_ROWS * 4);
    this.#told = this.#source + this.stride * 4;
    // Blocks of a power of two up to a page lie on their own multiples: each is known to the processor
    // by the fewest entries.
    const reserved = Math.ceil((this.#told + 16) / PAGE) * PAGE;
    const limit = Math.min(options.limit ?? ARENA_LIMIT, ARENA_LIMIT);
    this.#memory = new GrowingMemory(reserved, limit, options.prefault ?? openPrefault());
    const { buffer } = this.#memory.memory;
    this.#floats = new Float32Array(buffer);
    this.#integers = new Int32Array(buffer);
    this.#bytes = new Int8Array(buffer);
    this.kernel = openKernel(this.#memory.memory, options.build);
  }

  /**
   * Takes a block.
   * @throws {SvcError} `overloaded` when the memory cannot grow further.
   */
  allocate(): number {
    return this.#free.pop() ?? this.#memory.cut(this.blockBytes);
  }

  /** Bytes of the blocks that were given back and not taken again. */
  get freeBytes(): number {
    return this.#free.length * this.blockBytes;
  }

  /** To be called before many blocks are taken: makes memory ready on another thread. */
  prepare(): void {
    if (this.freeBytes < ENOUGH) this.#memory.prepare();
  }

  /** Resolves when no other thread makes memory ready. */
  settled(): Promise<void> {
    return this.#memory.settled();
  }

  /** Gives blocks back; their contents are overwritten by whoever takes them next. */
  release(blocks: readonly number[]): void {
    for (const block of blocks) this.#free.push(block);
  }

  /** Every float of the memory. Valid until it grows, by `allocate` or `prepare`. */
  get floats(): Float32Array {
    // Growing the memory detaches the views made before.
    if (this.#floats.length === 0) {
      const { buffer } = this.#memory.memory;
      this.#floats = new Float32Array(buffer);
      this.#integers = new Int32Array(buffer);
      this.#bytes = new Int8Array(buffer);
    }
    return this.#floats;
  }

  /** Writes a vector to a row of a block of floats. */
  write(block: number, row: number, vector: Float32Array): void {
    const { floats, stride } = this;
    const source = this.#source / 4;
    floats.set(vector, source);
    floats.fill(0, source + vector.length, source + stride);
    this.kernel.place_row(this.#source, block + rowOffset(row, stride) * 4, stride);
  }

  /** The vector of a row of a block of floats, as a copy. */
  read(block: number, row: number): Float32Array {
    const start = block / 4 + rowOffset(row, this.stride);
    const floats = this.floats;
    const vector = new Float32Array(this.dimensions);
    for (let i = 0; i < vector.length; i++) vector[i] = floats[start + floatOffset(i)]!;
    return vector;
  }

  /** Writes a row of floats to a row of a block of bytes. */
  round(block: number, row: number, byteBlock: number, byteRow: number): RoundedRow {
    const { floats, stride } = this;
    this.kernel.round_row(
      block + rowOffset(row, stride) * 4,
      byteBlock + byteRowOffset(byteRow, this.stride),
      this.#told,
      stride,
    );
    const told = this.#told / 4;
    return {
      scale: floats[told]!,
      zero: QUERY_ZERO * floats[told + 1]!,
      length: Math.sqrt(floats[told + 2]!),
      error: Math.sqrt(floats[told + 3]!),
    };
  }

  /** Copies a row of floats over another. */
  move(from: number, fromRow: number, to: number, toRow: number): void {
    const { floats, stride } = this;
    const source = from / 4 + rowOffset(fromRow, stride);
    const target = to / 4 + rowOffset(toRow, stride);
    for (let i = 0; i < stride; i++) {
      floats[target + floatOffset(i)] = floats[source + floatOffset(i)]!;
    }
  }

  /**
   * Sets the vector that {@linkcode Arena.score} compares with, scaled to unit length; a zero vector
   * stays zero.
   * @throws {SvcError} `dimension_mismatch`, `invalid_vector` when it is not finite.
   */
  aim(vector: Float32Array): void {
    if (vector.length !== this.dimensions) throw new SvcError("dimension_mismatch");
    let squares = 0;
    for (let i = 0; i < vector.length; i++) squares += vector[i]! * vector[i]!;
    if (!Number.isFinite(squares)) throw new SvcError("invalid_vector");
    const scale = squares === 0 ? 0 : 1 / Math.sqrt(squares);
    const floats = this.floats;
    for (let i = 0; i < vector.length; i++) floats[i] = vector[i]! * scale;
    floats.fill(0, vector.length, this.stride);
  }

  /** Rounds the vector aimed at for {@linkcode Arena.scoreBytes}. */
  aimBytes(): void {
    const { floats, stride } = this;
    const bytes = this.#bytes;
    const first = this.#queryBytes;
    const scale = Math.fround(largestOf(floats, stride) / (QUERY_ZERO - 1));
    const steps = scale === 0 ? 0 : 1 / scale;
    let squares = 0;
    let errors = 0;
    for (let i = 0; i < stride; i++) {
      const value = floats[i]!;
      const byte = (value * steps + (QUERY_ZERO + 0.5)) | 0;
      bytes[first + i] = byte;
      const step = byte - QUERY_ZERO;
      squares += step * step;
      const error = value - step * scale;
      errors += error * error;
    }
    this.#queryScale = scale;
    this.#queryRounding = { length: Math.sqrt(squares) * scale, error: Math.sqrt(errors) };
  }

  /** Dot products of a block's first `rows` rows with the vector aimed at; see `scores`. */
  score(block: number, rows: number): void {
    this.kernel.dots_f32(block, 0, this.#scores, rows, this.stride);
  }

  /** Dot product of one row with the vector aimed at, the same as `score` finds. */
  scoreRow(block: number, row: number): number {
    return this.kernel.dot_f32(block + rowOffset(row, this.stride) * 4, 0, this.stride);
  }

  /**
   * As {@linkcode Arena.score}, from a block of bytes: off by {@linkcode Arena.bound} at most. The
   * vector aimed at must have been rounded.
   *
   * @param numbers Scale and zero of one row after the other.
   * @param first Where those of the block's first row are.
   */
  scoreBytes(byteBlock: number, rows: number, numbers: Float32Array, first: number): void {
    this.kernel.dots_i8(byteBlock, this.#queryBytes, this.#scores, rows, this.stride);
    const floats = this.floats;
    const integers = this.#integers;
    const scale = this.#queryScale;
    let number = first;
    const end = this.#scores / 4 + rows;
    for (let at = this.#scores / 4; at < end; at++, number += 2) {
      floats[at] = (integers[at]! - numbers[number + 1]!) * numbers[number]! * scale;
    }
  }

  /**
   * How far the scores from bytes are off at most, for rows up to this length and rounding:
   * |q·d − q′·d′| ≤ |q − q′||d| + |q′||d − d′|.
   */
  bound({ length, error }: Rounding): number {
    const query = this.#queryRounding;
    return query.error * length + query.length * error + 1e-5;
  }

  /** The numbers {@linkcode Arena.score} wrote last. Valid until the memory grows. */
  get scores(): Float32Array {
    return this.floats.subarray(this.#scores / 4, this.#scores / 4 + BYTE_ROWS);
  }
}

/** Size of the largest of the first `count` numbers. */
function largestOf(floats: Float32Array, count: number): number {
  let largest = 0;
  for (let i = 0; i < count; i++) {
    const size = Math.abs(floats[i]!);
    if (size > largest) largest = size;
  }
  return largest;
}

/** Rounds up to whole cache lines. */
function align(bytes: number): number {
  return (bytes + 63) & ~63;
}
