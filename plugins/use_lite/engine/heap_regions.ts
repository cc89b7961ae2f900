/** Hands out the kernel's heap in pieces aligned to cache lines. */
export class HeapRegions {
  #next = 0;
  readonly #length: number;

  constructor(length: number) {
    this.#length = length;
  }

  /** Offset of a new region. */
  take(length: number): number {
    const offset = this.#next;
    this.#next += Math.ceil(length / 16) * 16;
    if (this.#next > this.#length) throw new RangeError("The heap is too small");
    return offset;
  }
}
