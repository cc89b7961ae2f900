import { SvcError } from "../../errors.ts";
import type { Arena } from "./arena.ts";
import { VectorRows } from "./vector_rows.ts";

const NONE = -1;
/** Rows and slots there is room for at first. */
const ROOM = 16;
/** Bytes a row and a slot take beside the vectors. */
const ROW_BYTES = 16;

/**
 * Window vectors of one scope. A memory is a slot, 0 to `size - 1`, and has one row or more; rows
 * and slots are kept dense by moving the last one into the gap.
 */
export class ScopeVectors {
  readonly #arena: Arena;
  readonly #rows: VectorRows;
  #slots = 0;
  /** Slot of every row, and the next row of the same slot. */
  #slotOf = new Int32Array(ROOM);
  #nextRow = new Int32Array(ROOM);
  /** First row of every slot, and the distance found last. */
  #firstRow = new Int32Array(ROOM);
  #distances = new Float32Array(ROOM);

  /** Starts empty, in an arena shared with other scopes. */
  constructor(arena: Arena) {
    this.#arena = arena;
    this.#rows = new VectorRows(arena);
  }

  /** Number of slots. */
  get size(): number {
    return this.#slots;
  }

  /** Number of rows. */
  get rows(): number {
    return this.#rows.count;
  }

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.#rows.bytes + this.#slotOf.length * ROW_BYTES;
  }

  /** Whether {@linkcode ScopeVectors.roundedDistances} can be asked. */
  get isRounded(): boolean {
    return this.#rows.isRounded;
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
    this.#rows.aim(vector);
    const distances = this.#farthest();
    this.#rows.lower(distances, this.#slotOf);
    return distances;
  }

  /**
   * As {@linkcode ScopeVectors.distances}, off by `bound` at most, and four times as fast where
   * memory is what takes the time. Only for vectors that are rounded.
   * @throws {SvcError} `dimension_mismatch`, `invalid_vector`.
   */
  roundedDistances(vector: Float32Array): { distances: Float32Array; bound: number } {
    this.#rows.aim(vector);
    const distances = this.#farthest();
    return { distances, bound: this.#rows.lowerRounded(distances, this.#slotOf) };
  }

  /** Distance of one slot from the vector that was compared last, the same as `distances` finds. */
  distance(slot: number): number {
    let distance = 2;
    for (let row = this.#firstRow[slot]!; row !== NONE; row = this.#nextRow[row]!) {
      distance = Math.min(distance, this.#rows.distance(row));
    }
    return distance;
  }

  #farthest(): Float32Array {
    return this.#distances.fill(2, 0, this.#slots);
  }

  /** Gives all memory back. */
  release(): void {
    this.#rows.release();
    this.#slots = 0;
    this.#slotOf = new Int32Array(0);
    this.#nextRow = new Int32Array(0);
    this.#firstRow = new Int32Array(0);
    this.#distances = new Float32Array(0);
  }

  #addRow(slot: number, vector: Float32Array): void {
    const row = this.#rows.count;
    this.#rows.push(vector);
    if (row === this.#slotOf.length) {
      this.#slotOf = doubled(this.#slotOf);
      this.#nextRow = doubled(this.#nextRow);
    }
    this.#slotOf[row] = slot;
    this.#nextRow[row] = this.#firstRow[slot]!;
    this.#firstRow[slot] = row;
  }

  /** Moves the last row into a row that no slot lists any more. */
  #removeRow(row: number): void {
    this.#rows.remove(row);
    const last = this.#rows.count;
    if (row === last) return;
    const slot = this.#slotOf[last]!;
    this.#slotOf[row] = slot;
    this.#nextRow[row] = this.#nextRow[last]!;
    if (this.#firstRow[slot] === last) {
      this.#firstRow[slot] = row;
      return;
    }
    let before = this.#firstRow[slot]!;
    while (this.#nextRow[before] !== last) before = this.#nextRow[before]!;
    this.#nextRow[before] = row;
  }
}

function doubled(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}
