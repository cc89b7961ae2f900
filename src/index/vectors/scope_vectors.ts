import { type Arena, BYTE_ROWS, FLOAT_ROWS, type RoundedRow, type Rounding } from "./arena.ts";
import { SvcError } from "../../errors.ts";
import { enlarged } from "../enlarged.ts";

/** Scopes with more rows keep them as bytes, too; in smaller ones reading both costs more. */
const FLOATS_ONLY = 800;
/** Bytes a row takes beside the blocks. */
const ROUNDED_ROW_BYTES = 8;
const NO_ROUNDING: Rounding = { length: 0, error: 0 };

/** Rows of one scope in an arena, 0 to `count - 1`: as floats, and as bytes where they are many. */
export class VectorRows {
  readonly #arena: Arena;
  readonly #floats: number[] = [];
  /** Blocks of the same rows as bytes; none while there are few. */
  readonly #bytes: number[] = [];
  /** Scale and zero of every row of bytes. */
  #numbers = new Float32Array(0);
  /** Largest length and rounding of any row of bytes so far. */
  #rounding = NO_ROUNDING;
  #count = 0;

  constructor(arena: Arena) {
    this.#arena = arena;
  }

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    const blocks = this.#floats.length + this.#bytes.length;
    return blocks * this.#arena.blockBytes + this.#numbers.length / 2 * ROUNDED_ROW_BYTES;
  }

  get isRounded(): boolean {
    return this.#bytes.length > 0;
  }

  /**
   * Adds a row at the end.
   * @throws {SvcError} `overloaded` when the arena is full: the rows are then no longer usable and
   * must be released.
   */
  push(vector: Float32Array): void {
    const row = this.#count;
    if (row % FLOAT_ROWS === 0) this.#floats.push(this.#arena.allocate());
    this.#arena.write(this.#floats.at(-1)!, row % FLOAT_ROWS, vector);
    this.#count++;
    if (this.isRounded) return this.#round(row);
    if (row < FLOATS_ONLY) return;
    for (let each = 0; each <= row; each++) this.#round(each);
  }

  /** Removes a row; the last row takes its number. */
  remove(row: number): void {
    const last = --this.#count;
    if (row !== last) this.#move(last, row);
    if (last % FLOAT_ROWS === 0) this.#arena.release(this.#floats.splice(-1));
    if (!this.isRounded) return;
    // At half the limit: otherwise a row removed and added at the limit would round all rows again.
    if (last < FLOATS_ONLY / 2) this.#forgetBytes();
    else if (last % BYTE_ROWS === 0) this.#arena.release(this.#bytes.splice(-1));
  }

  /**
   * Compares with another vector from now on.
   * @throws {SvcError} `dimension_mismatch`, `invalid_vector`.
   */
  aim(vector: Float32Array): void {
    this.#arena.aim(vector);
  }

  /** Cosine distance of one row, 0 to 2. */
  distance(row: number): number {
    const block = this.#floats[Math.floor(row / FLOAT_ROWS)]!;
    return Math.max(0, 1 - this.#arena.scoreRow(block, row % FLOAT_ROWS));
  }

  /** The vector of a row, as a copy. */
  read(row: number): Float32Array {
    return this.#arena.read(this.#floats[Math.floor(row / FLOAT_ROWS)]!, row % FLOAT_ROWS);
  }

  /** Lowers the distance of every row's slot to that of the row, where it is smaller. */
  lower(distances: Float32Array, slotOf: Int32Array): void {
    const { scores } = this.#arena;
    for (let i = 0; i < this.#floats.length; i++) {
      const row = i * FLOAT_ROWS;
      const count = Math.min(FLOAT_ROWS, this.#count - row);
      this.#arena.score(this.#floats[i]!, count);
      lower(distances, slotOf, row, count, scores);
    }
  }

  /**
   * As {@linkcode VectorRows.lower}, from the bytes, four times as fast where memory is what takes
   * the time. Only for rows that are rounded.
   *
   * @returns how far the distances are off at most.
   */
  lowerRounded(distances: Float32Array, slotOf: Int32Array): number {
    this.#arena.aimBytes();
    const { scores } = this.#arena;
    for (let i = 0; i < this.#bytes.length; i++) {
      const row = i * BYTE_ROWS;
      const count = Math.min(BYTE_ROWS, this.#count - row);
      this.#arena.scoreBytes(this.#bytes[i]!, count, this.#numbers, 2 * row);
      lower(distances, slotOf, row, count, scores);
    }
    return this.#arena.bound(this.#rounding);
  }

  release(): void {
    this.#arena.release(this.#floats);
    this.#floats.length = this.#count = 0;
    this.#forgetBytes();
  }

  #move(from: number, to: number): void {
    const [source, target] = [from, to].map((row) => this.#floats[Math.floor(row / FLOAT_ROWS)]!);
    this.#arena.move(source!, from % FLOAT_ROWS, target!, to % FLOAT_ROWS);
    if (this.isRounded) this.#round(to);
  }

  #round(row: number): void {
    const block = this.#floats[Math.floor(row / FLOAT_ROWS)]!;
    const bytes = this.#byteBlock(row);
    this.#note(row, this.#arena.round(block, row % FLOAT_ROWS, bytes, row % BYTE_ROWS));
  }

  /** The block of a row's bytes; a new one for the row behind the last block. */
  #byteBlock(row: number): number {
    const index = Math.floor(row / BYTE_ROWS);
    if (index === this.#bytes.length) this.#bytes.push(this.#arena.allocate());
    return this.#bytes[index]!;
  }

  #note(row: number, { scale, zero, length, error }: RoundedRow): void {
    if (2 * row >= this.#numbers.length) {
      this.#numbers = enlarged(this.#numbers, Math.max(4 * row, 2 * FLOATS_ONLY));
    }
    this.#numbers[2 * row] = scale;
    this.#numbers[2 * row + 1] = zero;
    if (length <= this.#rounding.length && error <= this.#rounding.error) return;
    this.#rounding = {
      length: Math.max(length, this.#rounding.length),
      error: Math.max(error, this.#rounding.error),
    };
  }

  #forgetBytes(): void {
    this.#arena.release(this.#bytes);
    this.#bytes.length = 0;
    this.#numbers = new Float32Array(0);
    this.#rounding = NO_ROUNDING;
  }
}

function lower(
  distances: Float32Array,
  slotOf: Int32Array,
  first: number,
  count: number,
  scores: Float32Array,
): void {
  for (let i = 0; i < count; i++) {
    const distance = 1 - scores[i]!;
    const slot = slotOf[first + i]!;
    if (distance < distances[slot]!) distances[slot] = distance < 0 ? 0 : distance;
  }
}

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

  constructor(arena: Arena) {
    this.#arena = arena;
    this.#rows = new VectorRows(arena);
  }

  get size(): number {
    return this.#slots;
  }

  get rows(): number {
    return this.#rows.count;
  }

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
      this.#firstRow = enlarged(this.#firstRow);
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

  /** The vector of a slot, as a copy; `undefined` where it has none or several. */
  vectorOf(slot: number): Float32Array | undefined {
    const row = this.#firstRow[slot]!;
    return row === NONE || this.#nextRow[row] !== NONE ? undefined : this.#rows.read(row);
  }

  #farthest(): Float32Array {
    return this.#distances.fill(2, 0, this.#slots);
  }

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
      this.#slotOf = enlarged(this.#slotOf);
      this.#nextRow = enlarged(this.#nextRow);
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
