import { SvcError } from "../errors.ts";
import {
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
/** The memory grows by 2 MiB or more, so that views are seldom made anew. */
const GROWTH_PAGES = 32;

/** Options of {@linkcode Arena}. */
export interface ArenaOptions {
  /** Most bytes of memory, at most {@linkcode ARENA_LIMIT}. */
  readonly limit?: number;
  /** Build of the kernel; the best one when absent. */
  readonly build?: KernelBuild;
}

/**
 * Resident vectors of many scopes: one memory cut into slabs of {@linkcode SLAB_ROWS} rows. One
 * memory for all, because each reserves gigabytes of address space. A slab is known by its byte
 * offset. The memory never shrinks; released slabs are used again.
 */
export class Arena {
  /** Length of the vectors. */
  readonly dimensions: number;
  /** Length of a row: `dimensions` rounded up to a multiple of 8. */
  readonly stride: number;
  /** Bytes of a slab. */
  readonly slabBytes: number;
  /** The kernel over the memory. */
  readonly kernel: DotKernel;
  readonly #memory: WebAssembly.Memory;
  readonly #limit: number;
  readonly #scores: number;
  readonly #free: number[] = [];
  #next: number;
  #floats: Float32Array;

  /** Makes an empty arena for vectors of one length. */
  constructor(dimensions: number, options: ArenaOptions = {}) {
    this.dimensions = dimensions;
    this.stride = (dimensions + 7) & ~7;
    this.slabBytes = SLAB_ROWS * this.stride * 4;
    // The query vector comes first, then the scores of one slab, then the slabs.
    this.#scores = align(this.stride * 4);
    this.#next = align(this.#scores + SLAB_ROWS * 4);
    const maximum = Math.floor(Math.min(options.limit ?? ARENA_LIMIT, ARENA_LIMIT) / PAGE);
    this.#limit = maximum * PAGE;
    this.#memory = new WebAssembly.Memory({ initial: Math.ceil(this.#next / PAGE), maximum });
    this.#floats = new Float32Array(this.#memory.buffer);
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
    if (this.#floats.length === 0) this.#floats = new Float32Array(this.#memory.buffer);
    return this.#floats;
  }

  /** Writes a vector to a row of a slab. */
  write(slab: number, row: number, vector: Float32Array): void {
    const { floats, stride } = this;
    const start = slab / 4 + rowOffset(row, stride);
    for (let i = 0; i < stride; i++) {
      floats[start + floatOffset(i)] = i < vector.length ? vector[i]! : 0;
    }
  }

  /** Copies a row over another. */
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

  /** Dot products of a slab's first `rows` rows with the vector aimed at; see `scores`. */
  score(slab: number, rows: number): void {
    this.kernel.dots_f32(slab, 0, this.#scores, rows, this.stride);
  }

  /** What {@linkcode Arena.score} wrote last. Holds only until the next `allocate`. */
  get scores(): Float32Array {
    return this.floats.subarray(this.#scores / 4, this.#scores / 4 + SLAB_ROWS);
  }
}

/** Rounds up to whole cache lines. */
function align(bytes: number): number {
  return (bytes + 63) & ~63;
}
