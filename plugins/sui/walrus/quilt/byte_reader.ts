/** What is read is not what it should be. */
export class MalformedBytes extends Error {
  /** Always `"MalformedBytes"`. */
  override readonly name = "MalformedBytes";
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads BCS from its beginning; everything it cannot read is a {@linkcode MalformedBytes}. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  /** Starts at the first byte. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Bytes read so far. */
  get at(): number {
    return this.#at;
  }

  /** Some bytes, not copied. */
  bytes(length: number): Uint8Array {
    const start = this.#at;
    if (start + length > this.#bytes.length) throw new MalformedBytes("too short");
    this.#at += length;
    return this.#bytes.subarray(start, this.#at);
  }

  /** One byte. */
  u8(): number {
    return this.bytes(1)[0]!;
  }

  /** Two bytes, little-endian. */
  u16(): number {
    const at = this.#at;
    this.bytes(2);
    return this.#view.getUint16(at, true);
  }

  /** Four bytes, little-endian. */
  u32(): number {
    const at = this.#at;
    this.bytes(4);
    return this.#view.getUint32(at, true);
  }

  /** A length: ULEB128, at most 2^28 - 1 here. */
  length(): number {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.u8();
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw new MalformedBytes("too long");
  }

  /** Text behind its length. */
  text(length: number = this.length()): string {
    try {
      return decoder.decode(this.bytes(length));
    } catch {
      throw new MalformedBytes("not UTF-8");
    }
  }
}
