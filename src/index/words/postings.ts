import { enlarged } from "../enlarged.ts";

/** A document's count of a term stops here. */
export const FREQUENCY_LIMIT = 255;

const FIRST_CELLS = 64;
/** Numbers of a cell, kept together so that a look-up misses the cache once, not four times. */
const CELL = 4;
const HASH = 0;
/** Number of postings; 0 in a free cell. */
const COUNT = 1;
const FIRST = 2;
/** Where the next posting goes, or the link to the next piece. */
const NEXT = 3;
const FIRST_WORDS = 256;
/** Numbers of a chunk of the pool, and the bits that count them. */
const CHUNK_BITS = 16;
const CHUNK = 1 << CHUNK_BITS;
const IN_CHUNK = CHUNK - 1;
/** Most postings of a piece: the next piece may not fit into a chunk, whose rest is lost. */
const LARGEST_PIECE = 2048;
/** Up to this many postings a loop copies faster than `set` does. */
const COPIED_BY_HAND = 32;
/** Postings of a list when its pieces reach the largest size. */
const DOUBLED = 2 * LARGEST_PIECE - 2;

export interface PostingsState {
  readonly terms: number;
  readonly cells: Uint32Array<ArrayBuffer>;
  /** The lists; a position of theirs counts every chunk as {@linkcode CHUNK} numbers. */
  readonly chunks: readonly Uint32Array<ArrayBuffer>[];
}

/**
 * Inverted index: for every term, by its 32-bit hash, the documents that have it and how often.
 * Documents are added one after the other. A posting is one number: document × 256 + frequency.
 *
 * The lists lie in a pool, in pieces of 2, 4, 8, … 2048, 2048, … postings, each followed by the
 * position of the next piece, so that a list grows without being copied. The pool consists of chunks,
 * so that it grows likewise; no piece is in two of them. Terms whose hashes are equal share a list; of
 * 100,000 terms about one pair does.
 */
export class Postings {
  /** Open addressing, {@linkcode CELL} numbers a cell. */
  #cells = new Uint32Array(FIRST_CELLS * CELL);
  /** Shift that leaves of a 32-bit hash the number of a cell. */
  #shift = Math.clz32(FIRST_CELLS - 1);
  #terms = 0;
  /** Only the last chunk grows, up to {@linkcode CHUNK} numbers. */
  #chunks = [new Uint32Array(FIRST_WORDS)];
  /** Position behind the last piece. */
  #used = 0;

  /**
   * The lists of an earlier index, whose arrays are taken over and written to; throws a `RangeError`
   * for sizes that cannot be. What the numbers mean is not checked: who keeps them seals them.
   */
  static from({ terms, cells, chunks }: PostingsState): Postings {
    const count = cells.length / CELL;
    const last = chunks.at(-1);
    if (
      count < FIRST_CELLS || (count & (count - 1)) !== 0 || terms >= count || last === undefined ||
      chunks.some(({ length }) => length > CHUNK)
    ) {
      throw new RangeError("These are no postings");
    }
    const postings = new Postings();
    postings.#cells = cells;
    postings.#shift = Math.clz32(count - 1);
    postings.#terms = terms;
    postings.#chunks = [...chunks];
    postings.#used = (chunks.length - 1) * CHUNK + last.length;
    return postings;
  }

  /**
   * What it consists of. The cells are to be copied before the next change. The chunks may be read
   * later: changes only fill places that these cells do not speak of, or use another array.
   */
  get state(): PostingsState {
    const last = this.#chunks.length - 1;
    const chunks = this.#chunks.with(
      last,
      this.#chunks[last]!.subarray(0, this.#used - last * CHUNK),
    );
    return { terms: this.#terms, cells: this.#cells, chunks };
  }

  get bytes(): number {
    return 4 * this.#chunks.reduce((sum, { length }) => sum + length, this.#cells.length);
  }

  get terms(): number {
    return this.#terms;
  }

  /**
   * Notes that a document has a term once more. All terms of a document come before the next one's.
   * @returns how often the document has the term now; 0 when this one is not counted any more,
   * beyond {@linkcode FREQUENCY_LIMIT}.
   */
  add(hash: number, document: number): number {
    let cell = this.#find(hash);
    if (this.#cells[cell + COUNT] === 0) {
      if (this.#terms * 3 * CELL >= this.#cells.length * 2) {
        this.#grow();
        cell = this.#find(hash);
      }
      this.#terms++;
      this.#cells[cell + HASH] = hash;
    } else {
      const last = this.#cells[cell + NEXT]! - 1;
      const chunk = this.#chunks[last >>> CHUNK_BITS]!;
      const posting = chunk[last & IN_CHUNK]!;
      if (posting >>> 8 === document) {
        const frequency = posting & 255;
        if (frequency === FREQUENCY_LIMIT) return 0;
        chunk[last & IN_CHUNK] = posting + 1;
        return frequency + 1;
      }
    }
    this.#append(cell, document * 256 + 1);
    return 1;
  }

  /**
   * Copies the postings of a term, in the order of the documents.
   * @returns how many there are; `into` is replaced when it is too short.
   */
  read(hash: number, into: { postings: Uint32Array }): number {
    const cell = this.#find(hash);
    const count = this.#cells[cell + COUNT]!;
    if (count > into.postings.length) into.postings = new Uint32Array(2 * count);
    const { postings } = into;
    let at = this.#cells[cell + FIRST]!;
    let done = 0;
    for (let size = 2; done < count; size = Math.min(2 * size, LARGEST_PIECE)) {
      const chunk = this.#chunks[at >>> CHUNK_BITS]!;
      const start = at & IN_CHUNK;
      const take = Math.min(size, count - done);
      if (take > COPIED_BY_HAND) postings.set(chunk.subarray(start, start + take), done);
      else for (let i = 0; i < take; i++) postings[done + i] = chunk[start + i]!;
      done += take;
      if (done < count) at = chunk[start + size]!;
    }
    return count;
  }

  *hashes(): Generator<number> {
    for (let cell = 0; cell < this.#cells.length; cell += CELL) {
      if (this.#cells[cell + COUNT]! > 0) yield this.#cells[cell + HASH]!;
    }
  }

  /** Adds a posting of a document that comes after all of the term's others. */
  append(hash: number, posting: number): void {
    this.add(hash, posting >>> 8);
    this.#put(this.#cells[this.#find(hash) + NEXT]! - 1, posting);
  }

  /** Where the cell of a term starts, or the free one that could become it. */
  #find(hash: number): number {
    const cells = this.#cells;
    const last = cells.length - CELL;
    let cell = (Math.imul(hash, 0x9e3779b1) >>> this.#shift) * CELL;
    while (cells[cell + HASH] !== hash || cells[cell + COUNT] === 0) {
      if (cells[cell + COUNT] === 0) return cell;
      cell = (cell + CELL) & last;
    }
    return cell;
  }

  #append(cell: number, posting: number): void {
    const cells = this.#cells;
    const count = cells[cell + COUNT]!;
    // Pieces of 2, 4, 8, … end at 2, 6, 14, … postings.
    const isFull = count < DOUBLED
      ? ((count + 2) & (count + 1)) === 0
      : (count - DOUBLED) % LARGEST_PIECE === 0;
    if (isFull) {
      const start = this.#take(Math.min(count + 2, LARGEST_PIECE) + 1);
      if (count === 0) cells[cell + FIRST] = start;
      else this.#put(cells[cell + NEXT]!, start);
      cells[cell + NEXT] = start;
    }
    this.#put(cells[cell + NEXT]!++, posting);
    cells[cell + COUNT] = count + 1;
  }

  #put(position: number, value: number): void {
    this.#chunks[position >>> CHUNK_BITS]![position & IN_CHUNK] = value;
  }

  #take(size: number): number {
    if ((this.#used & IN_CHUNK) + size > CHUNK) {
      this.#used = Math.ceil(this.#used / CHUNK) * CHUNK;
    }
    const start = this.#used;
    this.#used += size;
    const index = start >>> CHUNK_BITS;
    const end = (start & IN_CHUNK) + size;
    const chunk = this.#chunks[index];
    if (chunk === undefined) this.#chunks.push(new Uint32Array(CHUNK));
    else if (end > chunk.length) {
      const length = Math.max(end, Math.ceil(chunk.length * 1.5));
      this.#chunks[index] = enlarged(chunk, Math.min(CHUNK, length));
    }
    return start;
  }

  #grow(): void {
    const cells = this.#cells;
    this.#cells = new Uint32Array(cells.length * 2);
    this.#shift--;
    for (let cell = 0; cell < cells.length; cell += CELL) {
      if (cells[cell + COUNT] === 0) continue;
      const target = this.#find(cells[cell + HASH]!);
      for (let i = 0; i < CELL; i++) this.#cells[target + i] = cells[cell + i]!;
    }
  }
}

/** Whether a document is among postings, which are in the order of the documents. */
export function hasDocument(postings: Uint32Array, document: number): boolean {
  let low = 0;
  for (let high = postings.length; low < high;) {
    const middle = (low + high) >> 1;
    if (postings[middle]! >>> 8 < document) low = middle + 1;
    else high = middle;
  }
  return low < postings.length && postings[low]! >>> 8 === document;
}

/** Of the whole process: copying is done in one go. */
const copied = { postings: new Uint32Array(1024) };

/** Postings under new numbers of their documents; those of a negative number are left out. */
export function renumbered(postings: Postings, numbers: Int32Array): Postings {
  const kept = new Postings();
  copyInto(kept, postings, numbers);
  return kept;
}

/** Adds postings under new numbers of their documents; those of a negative number are left out. */
export function copyInto(kept: Postings, postings: Postings, numbers: Int32Array): void {
  for (const hash of postings.hashes()) {
    const count = postings.read(hash, copied);
    for (let i = 0; i < count; i++) {
      const posting = copied.postings[i]!;
      const document = numbers[posting >>> 8]!;
      if (document >= 0) kept.append(hash, document * 256 + (posting & 255));
    }
  }
}
