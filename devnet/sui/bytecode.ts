/** First bytes of a compiled Move module. */
const MAGIC = "a11ceb0b";
const MODULE_HANDLES = 1;
const IDENTIFIERS = 7;

/** What is read of a compiled module. */
export interface ModuleInfo {
  /** Its name. */
  readonly name: string;
  /** Every name it uses or defines. */
  readonly identifiers: readonly string[];
}

/** Reads bytes from a position on. */
class Reader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  byte(): number {
    const value = this.#bytes[this.at++];
    if (value === undefined) throw new RangeError("the module ends too early");
    return value;
  }

  /** Unsigned LEB128. */
  number(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError("a number is too long");
  }

  take(length: number): Uint8Array {
    if (this.at + length > this.#bytes.length) throw new RangeError("the module ends too early");
    return this.#bytes.subarray(this.at, this.at += length);
  }
}

/**
 * Name and identifiers of a compiled module. Layout (Move binary format 6 and 7): magic, version
 * (u32), number of tables and per table kind, offset and length, the tables, index of the handle
 * of the module itself. Throws RangeError when the bytes are none.
 */
export function readModule(bytes: Uint8Array): ModuleInfo {
  if (bytes.subarray(0, 4).toHex() !== MAGIC) throw new RangeError("not a compiled module");
  const head = new Reader(bytes, 8);
  const tables = Array.from({ length: head.number() }, () => ({
    kind: head.byte(),
    offset: head.number(),
    length: head.number(),
  }));
  const start = head.at;
  const end = start + Math.max(0, ...tables.map(({ offset, length }) => offset + length));
  const items = <T>(kind: number, read: (reader: Reader) => T): T[] => {
    const table = tables.find((each) => each.kind === kind);
    if (table === undefined) return [];
    const reader = new Reader(bytes, start + table.offset);
    const found: T[] = [];
    while (reader.at < start + table.offset + table.length) found.push(read(reader));
    return found;
  };
  const text = new TextDecoder("utf-8", { fatal: true });
  const identifiers = items(IDENTIFIERS, (reader) => text.decode(reader.take(reader.number())));
  const handles = items(MODULE_HANDLES, (reader) => {
    reader.number();
    return reader.number();
  });
  const name = identifiers[handles[new Reader(bytes, end).number()] ?? -1];
  if (name === undefined) throw new RangeError("the module has no name");
  return { name, identifiers };
}
