import { randomBytes } from "node:crypto";

/** What a record begins with: raised whenever its layout changes. */
const FORMAT = 0x73_76_72_01;
/** A record takes no further piece once it has so many bytes: sealing it takes milliseconds. */
const RECORD_BYTES = 1024 * 1024;
/** Numbers of a record's head: format, 3 random ones of its file, its place there, its pieces. */
const HEAD = 6;
const PLACE_AT = 4;
const COUNT_AT = 5;

/**
 * Puts pieces together to records: head, length of every piece, and the pieces, in the byte order
 * of the machine: they are read on the machine that wrote them. A record is made when it is asked
 * for.
 *
 * @param pieces Of lengths that are multiples of 4.
 */
export function* packPieces(pieces: Iterable<Uint8Array>): Generator<Uint8Array<ArrayBuffer>> {
  const head = new Uint32Array(HEAD);
  new Uint8Array(head.buffer).set(randomBytes(4 * PLACE_AT));
  head[0] = FORMAT;
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  const record = () => {
    head[COUNT_AT] = waiting.length;
    const numbers = Uint32Array.of(...head, ...waiting.map(({ length }) => length));
    const packed = new Uint8Array(numbers.byteLength + bytes);
    packed.set(new Uint8Array(numbers.buffer));
    let at = numbers.byteLength;
    for (const piece of waiting) {
      packed.set(piece, at);
      at += piece.length;
    }
    head[PLACE_AT]!++;
    waiting = [];
    bytes = 0;
    return packed;
  };
  for (const piece of pieces) {
    waiting.push(piece);
    bytes += piece.length;
    if (bytes >= RECORD_BYTES) yield record();
  }
  if (waiting.length > 0) yield record();
}

/**
 * The pieces of the records of a file, where they stand; `undefined` unless the records are of one
 * file, in their order. That none is missing at the end is for the reader of the pieces to see.
 */
export function unpackPieces(records: readonly Uint8Array[]): Uint8Array[] | undefined {
  const pieces: Uint8Array[] = [];
  let file: string | undefined;
  for (const [place, record] of records.entries()) {
    // Where numbers can be read.
    const bytes = record.byteOffset % 4 === 0 ? record : new Uint8Array(record);
    if (bytes.length < 4 * HEAD) return undefined;
    const head = new Uint32Array(bytes.buffer, bytes.byteOffset, HEAD);
    const mark = head.subarray(0, PLACE_AT).join();
    if (head[0] !== FORMAT || head[PLACE_AT] !== place || mark !== (file ??= mark)) {
      return undefined;
    }
    const count = head[COUNT_AT]!;
    let at = 4 * (HEAD + count);
    if (at > bytes.length) return undefined;
    const lengths = new Uint32Array(bytes.buffer, bytes.byteOffset + 4 * HEAD, count);
    for (const length of lengths) {
      if (at + length > bytes.length) return undefined;
      pieces.push(new Uint8Array(bytes.buffer, bytes.byteOffset + at, length));
      at += length;
    }
    if (at !== bytes.length) return undefined;
  }
  return pieces;
}
