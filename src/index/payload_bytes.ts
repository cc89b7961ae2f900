/** RAM that payloads take, of which several may share a buffer. */
export class PayloadBytes {
  /** Bytes used of each buffer that is shared. */
  readonly #shared = new Map<ArrayBufferLike, number>();
  #used = 0;
  #spare = 0;

  get used(): number {
    return this.#used;
  }

  /** Bytes of shared buffers that no payload uses. */
  get spare(): number {
    return this.#spare;
  }

  add(payload: Uint8Array): void {
    this.#count(payload, 1);
  }

  /** Stops counting a payload; a shared buffer counts until its last payload is removed. */
  remove(payload: Uint8Array): void {
    this.#count(payload, -1);
  }

  clear(): void {
    this.#shared.clear();
    this.#used = this.#spare = 0;
  }

  #count({ buffer, byteLength }: Uint8Array, sign: 1 | -1): void {
    this.#used += sign * byteLength;
    const whole = buffer.byteLength;
    if (byteLength === whole) return;
    const before = this.#shared.get(buffer);
    const after = (before ?? 0) + sign * byteLength;
    this.#spare += (after === 0 ? 0 : whole - after) - (before === undefined ? 0 : whole - before);
    if (after === 0) this.#shared.delete(buffer);
    else this.#shared.set(buffer, after);
  }
}
