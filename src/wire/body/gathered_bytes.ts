import { Pauses } from "./pauses.ts";

/**
 * Bytes that come in parts, each copied: a part may be a byte in a buffer of 64 KiB, which would be
 * held with it.
 */
export class GatheredBytes {
  #bytes = new Uint8Array();
  #length = 0;

  get length(): number {
    return this.#length;
  }

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

/**
 * All bytes of an answer; others have a turn meanwhile.
 *
 * @param tooLarge Makes the error for an answer of more than `maxBytes`, the rest of which is given up.
 */
export async function gather(
  { body }: Response,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Uint8Array<ArrayBuffer>> {
  const gathered = new GatheredBytes();
  const pauses = new Pauses();
  // Leaving the loop cancels the stream.
  for await (const part of body ?? []) {
    if (gathered.length + part.length > maxBytes) throw tooLarge();
    gathered.add(part);
    await pauses.next();
  }
  return gathered.bytes;
}
