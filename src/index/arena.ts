import { SvcError } from "../errors.ts";
import {
  byteOffset,
  byteRowOffset,
  type DotKernel,
  floatOffset,
  type KernelBuild,
  openKernel,
  rowOffset,
} from "./dot_kernel.ts";

/** Rows of a slab: small, because the last slab of every scope is half empty. */
export const SLAB_ROWS = 16;
/** Bytes an arena can address. */
export const ARENA_LIMIT: number = 2 ** 32;

const PAGE = 65536;
/** Bytes of a query are 1 to 127: this is its zero. */
const QUERY_ZERO = 64;
/** The memory grows by 2 MiB or more, so that views are seldom made anew. */
const GROWTH_PAGES = 32;

/** Options of {@linkcode Arena}. */
export interface ArenaOptions {
  /** Most bytes of memory, at most {@linkcode ARENA_LIMIT}. */
  readonly limit?: number;
  /** Build of the kernel; the best one when absent. */
  readonly build?: KernelBuild;
}

/** How well a vector is kept as bytes. */
export interface Rounding {
  /** Length of the vector. */
  readonly length: number;
  /** Length of the difference of the vector and what its bytes stand for. */
  readonly error: number;
}

/**
 * Resident vectors of many scopes: one memory cut into slabs of {@linkcode SLAB_ROWS} rows. One
 * memory for all, because each reserves gigabytes of address space. A slab is known by its byte
 * offset. The memory never shrinks; released slabs are used again.
 *
 * A row is there twice: as floats, and as bytes in a quarter of the space, which is read in a quarter
 * of the time. Bytes times the row's scale are the numbers, rounded.
 */
export class Arena {
  /** Length of the vectors. */
  readonly dimensions: number;
  /** Length of a row: `dimensions` rounded up to a multiple of 16. */
  readonly stride: number;
  /** Bytes of a row of bytes: the same. */
  readonly byteStride: number;
  /** Bytes of a slab: floats, bytes, and two numbers a row. */
  readonly slabBytes: number;
  /** The kernel over the memory. */
  readonly kernel: DotKernel;
  readonly #memory: WebAssembly.Memory;
  readonly #limit: number;
  readonly #queryBytes: number;
  readonly #scores: number;
  readonly #source: number;
  /** Where in a slab the bytes start, and the rows' numbers. */
  readonly #bytesAt: number;
  readonly #numbersAt: number;
  #queryScale = 0;
  #queryRounding: Rounding = { length: 0, error: 0 };
  readonly #free: number[] = [];
  #next: number;
  #floats: Float32Array;
  #integers: Int32Array;
  #bytes: Int8Array;

  /** Makes an empty arena for vectors of one length. */
  constructor(dimensions: number, options: ArenaOptions = {}) {
    this.dimensions = dimensions;
    this.stride = this.byteStride = (dimensions + 15) & ~15;
    this.#bytesAt = SLAB_ROWS * this.stride * 4;
    this.#numbersAt = this.#bytesAt + SLAB_ROWS * this.byteStride;
    this.slabBytes = this.#numbersAt + SLAB_ROWS * 8;
    // The query comes first, as floats and as bytes, then the scores of one slab, then a vector to be
    // written with what the kernel tells of it, then the slabs.
    this.#queryBytes = align(this.stride * 4);
    this.#scores = align(this.#queryBytes + this.byteStride);
    this.#source = align(this.#scores + SLAB_ROWS * 4);
    this.#next = align(this.#source + this.byteStride * 4 + 16);
    const maximum = Math.floor(Math.min(options.limit ?? ARENA_LIMIT, ARENA_LIMIT) / PAGE);
    this.#limit = maximum * PAGE;
    this.#memory = new WebAssembly.Memory({ initial: Math.ceil(this.#next / PAGE), maximum });
    this.#floats = new Float32Array(this.#memory.buffer);
    this.#integers = new Int32Array(this.#memory.buffer);
    this.#bytes = new Int8Array(this.#memory.buffer);
    this.kernel = openKernel(this.#memory, options.build);
  }

  /**
   * Takes a slab.
   * @throws {SvcError} `overloaded` when the memory cannot grow further.
   */
  allocate(): number {
    const slab = this.#free.pop() ?? this.#next;
    if (slab !== this.#next) return slab;
    const end = slab + this.slabBytes;
    const have = this.#memory.buffer.byteLength;
    if (end > this.#limit) throw new SvcError("overloaded");
    if (end > have) {
      const room = (this.#limit - have) / PAGE;
      try {
        this.#memory.grow(Math.min(room, Math.max(GROWTH_PAGES, Math.ceil((end - have) / PAGE))));
      } catch (cause) {
        throw new SvcError("overloaded", undefined, { cause });
      }
    }
    this.#next = end;
    return slab;
  }

  /** Gives slabs back; their contents are overwritten by whoever takes them next. */
  release(slabs: readonly number[]): void {
    for (const slab of slabs) this.#free.push(slab);
  }

  /** Every float of the memory. Holds only until the next {@linkcode Arena.allocate}. */
  get floats(): Float32Array {
    // Growing the memory detaches the views made before.
    if (this.#floats.length === 0) {
      this.#floats = new Float32Array(this.#memory.buffer);
      this.#integers = new Int32Array(this.#memory.buffer);
      this.#bytes = new Int8Array(this.#memory.buffer);
    }
    return this.#floats;
  }

  /** Writes a vector to a row of a slab. */
  write(slab: number, row: number, vector: Float32Array): Rounding {
    const { floats, byteStride } = this;
    const source = this.#source / 4;
    floats.set(vector, source);
    floats.fill(0, source + vector.length, source + byteStride);
    const out = this.#source + byteStride * 4;
    this.kernel.pack_row(
      this.#source,
      slab + rowOffset(row, this.stride) * 4,
      slab + this.#bytesAt + byteRowOffset(row, byteStride),
      out,
      byteStride,
    );
    const [scale, sum, squares, errors] = floats.subarray(out / 4, out / 4 + 4);
    const numbers = (slab + this.#numbersAt) / 4 + 2 * row;
    floats[numbers] = scale!;
    // What the query's zero adds to the product.
    floats[numbers + 1] = QUERY_ZERO * sum!;
    return { length: Math.sqrt(squares!), error: Math.sqrt(errors!) };
  }

  /** Copies a row over another. */
  move(from: number, fromRow: number, to: number, toRow: number): void {
    const { floats, stride } = this;
    const source = from / 4 + rowOffset(fromRow, stride);
    const target = to / 4 + rowOffset(toRow, stride);
    for (let i = 0; i < stride; i++) {
      floats[target + floatOffset(i)] = floats[source + floatOffset(i)]!;
    }
    const bytes = this.#bytes;
    const sourceByte = from + this.#bytesAt + byteRowOffset(fromRow, this.byteStride);
    const targetByte = to + this.#bytesAt + byteRowOffset(toRow, this.byteStride);
    for (let i = 0; i < this.byteStride; i++) {
      bytes[targetByte + byteOffset(i)] = bytes[sourceByte + byteOffset(i)]!;
    }
    const numbers = (slab: number, row: number) => (slab + this.#numbersAt) / 4 + 2 * row;
    floats.copyWithin(numbers(to, toRow), numbers(from, fromRow), numbers(from, fromRow) + 2);
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
    const query = this.floats.subarray(0, this.dimensions);
    const bytes = this.#bytes;
    const scale = scaleOf(query, QUERY_ZERO - 1);
    let squares = 0;
    let errors = 0;
    for (let i = 0; i < this.byteStride; i++) {
      const value = i < query.length ? query[i]! : 0;
      const step = scale === 0 ? 0 : Math.round(value / scale);
      bytes[this.#queryBytes + i] = QUERY_ZERO + step;
      squares += (step * scale) ** 2;
      errors += (value - step * scale) ** 2;
    }
    this.#queryScale = scale;
    this.#queryRounding = { length: Math.sqrt(squares), error: Math.sqrt(errors) };
  }

  /** Dot products of a slab's first `rows` rows with the vector aimed at; see `scores`. */
  score(slab: number, rows: number): void {
    this.kernel.dots_f32(slab, 0, this.#scores, rows, this.stride);
  }

  /** Dot product of one row with the vector aimed at, the same as `score` finds. */
  scoreRow(slab: number, row: number): number {
    const group = slab + (row >> 2) * 16 * this.stride;
    this.kernel.dots_f32(group, 0, this.#scores, 1, this.stride);
    return this.floats[this.#scores / 4 + (row & 3)]!;
  }

  /**
   * As {@linkcode Arena.score}, from the bytes: off by {@linkcode Arena.bound} at most. The vector
   * aimed at must have been rounded.
   */
  scoreBytes(slab: number, rows: number): void {
    this.kernel.dots_i8(
      slab + this.#bytesAt,
      this.#queryBytes,
      this.#scores,
      rows,
      this.byteStride,
    );
    const floats = this.floats;
    const integers = this.#integers;
    const scores = this.#scores / 4;
    let numbers = (slab + this.#numbersAt) / 4;
    for (let row = 0; row < rows; row++, numbers += 2) {
      const product = integers[scores + row]! - floats[numbers + 1]!;
      floats[scores + row] = product * floats[numbers]! * this.#queryScale;
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

  /** What {@linkcode Arena.score} wrote last. Holds only until the next `allocate`. */
  get scores(): Float32Array {
    return this.floats.subarray(this.#scores / 4, this.#scores / 4 + SLAB_ROWS);
  }
}

/** The number that one step of a byte stands for, when the largest is `steps`. */
function scaleOf(vector: Float32Array, steps: number): number {
  let largest = 0;
  for (let i = 0; i < vector.length; i++) {
    const size = Math.abs(vector[i]!);
    if (size > largest) largest = size;
  }
  return Math.fround(largest / steps);
}

/** Rounds up to whole cache lines. */
function align(bytes: number): number {
  return (bytes + 63) & ~63;
}
