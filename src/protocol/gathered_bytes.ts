/**
 * Bytes that come in parts, each copied: a part may be a byte in a buffer of 64 KiB, which would be
 * held with it.
 */
export class GatheredBytes {
  #bytes = new Uint8Array();
  #length = 0;

  /** How many there are. */
  get length(): number {
    return this.#length;
  }

  /** Adds a part. */
  add(part: Uint8Array): void {
    const length = this.#length + part.length;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#bytes.length));
      larger.set(this.bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(part, this.#length);
    this.#length = length;
  }

  /** All of them, as a view. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }
}
