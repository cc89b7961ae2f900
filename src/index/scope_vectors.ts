import { SvcError } from "../errors.ts";
import { type Arena, type Rounding, SLAB_ROWS } from "./arena.ts";

const NONE = -1;
/** Bytes a row and a slot take beside the floats. */
const ROW_BYTES = 16;

/**
 * Window vectors of one scope. A memory is a slot, 0 to `size - 1`, and has one row or more; rows
 * and slots are kept dense by moving the last one into the gap.
 */
export class ScopeVectors {
  readonly #arena: Arena;
  readonly #slabs: number[] = [];
  #rows = 0;
  #slots = 0;
  /** Slot of every row, and the next row of the same slot. */
  #slotOf = new Int32Array(SLAB_ROWS);
  #nextRow = new Int32Array(SLAB_ROWS);
  /** First row of every slot, and the distance found last. */
  #firstRow = new Int32Array(SLAB_ROWS);
  #distances = new Float32Array(SLAB_ROWS);
  /** Largest length and rounding of any row so far. */
  #rounding: Rounding = { length: 0, error: 0 };

  /** Starts empty, in an arena shared with other scopes. */
  constructor(arena: Arena) {
    this.#arena = arena;
  }

  /** Number of slots. */
  get size(): number {
    return this.#slots;
  }

  /** Number of rows. */
  get rows(): number {
    return this.#rows;
  }

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.#slabs.length * this.#arena.slabBytes + this.#slotOf.length * ROW_BYTES;
  }

  /**
   * Adds a slot at the end.
   * @throws {SvcError} `dimension_mismatch`, before anything is changed; `overloaded` when the arena
   * is full: the slots are then no longer usable and must be released.
   */
  add(vectors: readonly Float32Array[]): void {
    for (const vector of vectors) {
      if (vector.length !== this.#arena.dimensions) throw new SvcError("dimension_mismatch");
    }
    if (this.#slots === this.#firstRow.length) {
      this.#firstRow = doubled(this.#firstRow);
      this.#distances = new Float32Array(this.#firstRow.length);
    }
    const slot = this.#slots++;
    this.#firstRow[slot] = NONE;
    for (const vector of vectors) this.#addRow(slot, vector);
  }

  /** Replaces the vectors of a slot. Throws as {@linkcode ScopeVectors.add}. */
  replace(slot: number, vectors: readonly Float32Array[]): void {
    this.add(vectors);
    this.remove(slot);
  }

  /** Removes a slot; the last slot takes its number. */
  remove(slot: number): void {
    for (let row = this.#firstRow[slot]!; row !== NONE; row = this.#firstRow[slot]!) {
      this.#firstRow[slot] = this.#nextRow[row]!;
      this.#removeRow(row);
    }
    const last = --this.#slots;
    if (slot === last) return;
    this.#firstRow[slot] = this.#firstRow[last]!;
    for (let row = this.#firstRow[slot]!; row !== NONE; row = this.#nextRow[row]!) {
      this.#slotOf[row] = slot;
    }
  }

  /**
   * Cosine distance of every slot's closest row, 0 to 2; slots without rows are at 2. The answer is
   * overwritten by the next call and holds at least `size` numbers.
   * @throws {SvcError} `dimension_mismatch`, `invalid_vector`.
   */
  distances(vector: Float32Array): Float32Array {
    this.#arena.aim(vector);
    return this.#scan((slab, count) => this.#arena.score(slab, count));
  }

  /**
   * As {@linkcode ScopeVectors.distances}, off by `bound` at most, and four times as fast where
   * memory is what takes the time.
   * @throws {SvcError} `dimension_mismatch`, `invalid_vector`.
   */
  roundedDistances(vector: Float32Array): { distances: Float32Array; bound: number } {
    this.#arena.aim(vector);
    this.#arena.aimBytes();
    const distances = this.#scan((slab, count) => this.#arena.scoreBytes(slab, count));
    return { distances, bound: this.#arena.bound(this.#rounding) };
  }

  /** Distance of one slot from the vector that was compared last, the same as `distances` finds. */
  distance(slot: number): number {
    let distance = 2;
    for (let row = this.#firstRow[slot]!; row !== NONE; row = this.#nextRow[row]!) {
      const own = 1 - this.#arena.scoreRow(this.#slab(row), row % SLAB_ROWS);
      distance = Math.min(distance, Math.max(0, own));
    }
    return distance;
  }

  #scan(score: (slab: number, count: number) => void): Float32Array {
    const { scores } = this.#arena;
    const distances = this.#distances.fill(2, 0, this.#slots);
    const slotOf = this.#slotOf;
    const rows = this.#rows;
    let row = 0;
    for (const slab of this.#slabs) {
      const count = Math.min(SLAB_ROWS, rows - row);
      score(slab, count);
      for (let i = 0; i < count; i++) {
        const distance = 1 - scores[i]!;
        const slot = slotOf[row++]!;
        if (distance < distances[slot]!) distances[slot] = distance < 0 ? 0 : distance;
      }
    }
    return distances;
  }

  /** Gives all memory back. */
  release(): void {
    this.#arena.release(this.#slabs);
    this.#slabs.length = this.#rows = this.#slots = 0;
    this.#slotOf = new Int32Array(0);
    this.#nextRow = new Int32Array(0);
    this.#firstRow = new Int32Array(0);
    this.#distances = new Float32Array(0);
  }

  #addRow(slot: number, vector: Float32Array): void {
    const row = this.#rows;
    if (row % SLAB_ROWS === 0) this.#slabs.push(this.#arena.allocate());
    if (row === this.#slotOf.length) {
      this.#slotOf = doubled(this.#slotOf);
      this.#nextRow = doubled(this.#nextRow);
    }
    const slab = this.#slabs[this.#slabs.length - 1]!;
    const { length, error } = this.#arena.write(slab, row % SLAB_ROWS, vector);
    this.#rounding = {
      length: Math.max(length, this.#rounding.length),
      error: Math.max(error, this.#rounding.error),
    };
    this.#slotOf[row] = slot;
    this.#nextRow[row] = this.#firstRow[slot]!;
    this.#firstRow[slot] = row;
    this.#rows++;
  }

  /** Moves the last row into a row that no slot lists any more. */
  #removeRow(row: number): void {
    const last = --this.#rows;
    if (row !== last) {
      this.#arena.move(this.#slab(last), last % SLAB_ROWS, this.#slab(row), row % SLAB_ROWS);
      const slot = this.#slotOf[last]!;
      this.#slotOf[row] = slot;
      this.#nextRow[row] = this.#nextRow[last]!;
      if (this.#firstRow[slot] === last) {
        this.#firstRow[slot] = row;
      } else {
        let before = this.#firstRow[slot]!;
        while (this.#nextRow[before] !== last) before = this.#nextRow[before]!;
        this.#nextRow[before] = row;
      }
    }
    if (last % SLAB_ROWS === 0) this.#arena.release(this.#slabs.splice(-1));
  }

  #slab(row: number): number {
    return this.#slabs[Math.floor(row / SLAB_ROWS)]!;
  }
}

function doubled(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}
