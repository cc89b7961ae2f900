import type { IndexEntry, VectorMatch } from "../../src/interfaces/mod.ts";
import type { Segment } from "../shared/rows/segment.ts";

interface Candidate {
  readonly id: string;
  readonly similarity: number;
  readonly index: number;
  /** Absent while its segment is being looked through. */
  entry?: IndexEntry;
}

/** The memories closest to a query, out of any number of segments. */
export class Nearest {
  readonly #query: Float32Array;
  readonly #limit: number;
  /** Best first; equal ones by id, so that answers do not depend on how memories are packed. */
  readonly #found: Candidate[] = [];
  readonly #ids = new Set<string>();

  constructor(query: Float32Array, limit: number) {
    this.#query = query;
    this.#limit = limit;
  }

  /** Considers every memory of a segment, whose bytes are not needed afterwards. */
  add(segment: Segment): void {
    const found = this.#found;
    let isAnyNew = false;
    for (let index = 0; index < segment.size; index++) {
      const similarity = segment.similarity(index, this.#query);
      const full = found.length >= this.#limit;
      if (similarity === -Infinity || (full && similarity < found.at(-1)!.similarity)) continue;
      this.#insert({ id: segment.id(index), similarity, index });
      isAnyNew = true;
    }
    // Only now: most of what is close to the query in the first segments is displaced again.
    if (isAnyNew) {
      for (const candidate of found) candidate.entry ??= segment.copy(candidate.index);
    }
  }

  /** The matches, nearest first. */
  matches(): VectorMatch[] {
    return this.#found.map(({ entry, similarity }) => ({
      entry: entry!,
      // Rounding can leave the range by a hair.
      distance: Math.min(2, Math.max(0, 1 - similarity)),
    }));
  }

  #insert(candidate: Candidate): void {
    const found = this.#found;
    // A memory that was replaced during the scan is met twice; the later copy is the newer one.
    if (this.#ids.has(candidate.id)) {
      found.splice(found.findIndex(({ id }) => id === candidate.id), 1);
    }
    this.#ids.add(candidate.id);
    let low = 0;
    let high = found.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (before(found[middle]!, candidate)) low = middle + 1;
      else high = middle;
    }
    found.splice(low, 0, candidate);
    if (found.length > this.#limit) this.#ids.delete(found.pop()!.id);
  }
}

function before(a: Candidate, b: Candidate): boolean {
  return a.similarity > b.similarity || (a.similarity === b.similarity && a.id < b.id);
}
