/** Makes UUIDs of version 7: ids in the order of their making keep the table's inserts sequential. */
export class TimeOrderedIds {
  #last = 0;
  #counter = 0;

  /** The next one; `now` in milliseconds since the epoch. */
  next(now: number): string {
    const at = Math.max(this.#last, now);
    this.#counter = at === this.#last ? (this.#counter + 1) & 0xfff : 0;
    // A full counter borrows the next millisecond.
    this.#last = at === this.#last && this.#counter === 0 ? at + 1 : at;
    const time = this.#last.toString(16).padStart(12, "0");
    const sequence = this.#counter.toString(16).padStart(3, "0");
    return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence}-${crypto.randomUUID().slice(19)}`;
  }
}
