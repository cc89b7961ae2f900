/** Thrown for bytes that are no BCS; says nothing about them. */
export class NotBcs extends Error {
  override readonly name = "NotBcs";
}

/**
 * Reads BCS (https://github.com/zefchain/bcs) strictly: bytes that another decoder could read in
 * another way are refused. Nothing is allocated by a length that the bytes only claim.
 */
export class BcsReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** So many bytes, as a view. */
  take(count: number): Uint8Array {
    if (count > this.#bytes.length - this.#at) throw new NotBcs();
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  /** An unsigned 16-bit number, little-endian. */
  u16(): number {
    const [low, high] = this.take(2);
    return low! + high! * 256;
  }

  /** An unsigned 64-bit number, little-endian. */
  u64(): bigint {
    const bytes = this.take(8);
    return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
  }

  /** A ULEB128 number below 2^32 in its shortest form: lengths, and the tags of enums. */
  uleb(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.take(1)[0]!;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) {
        if ((byte === 0 && shift > 0) || value > 0xffff_ffff) throw new NotBcs();
        return value;
      }
    }
    throw new NotBcs();
  }

  /** Bytes behind their length. */
  bytes(): Uint8Array {
    return this.take(this.uleb());
  }

  /** Text of UTF-8 behind its length. */
  text(): string {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(this.bytes());
    } catch {
      throw new NotBcs();
    }
  }

  /** 32 bytes as `0x` and 64 lower-case hex characters. */
  address(): string {
    return `0x${this.take(32).toHex()}`;
  }

  /** Throws when bytes are left. */
  end(): void {
    if (this.#at < this.#bytes.length) throw new NotBcs();
  }
}
