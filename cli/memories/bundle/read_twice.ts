import { createHash } from "node:crypto";
import { Unreadable } from "../unreadable.ts";

/** Bytes that are compared together; they are held meanwhile. */
const BLOCK_BYTES = 1_048_576;
const CHANGED = "it was changed while it was read: nothing from the change on is taken";

/** Chunks in blocks of {@linkcode BLOCK_BYTES}; the last one is what is left. */
async function* blocksOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array[]> {
  let block: Uint8Array[] = [];
  let left = BLOCK_BYTES;
  for await (let chunk of chunks) {
    while (chunk.length >= left) {
      yield [...block, chunk.subarray(0, left)];
      chunk = chunk.subarray(left);
      [block, left] = [[], BLOCK_BYTES];
    }
    block.push(chunk);
    left -= chunk.length;
  }
  yield block;
}

function digestOf(block: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const part of block) hash.update(part);
  return hash.digest("base64");
}

/** Bytes that are checked in one reading and used in another: what has changed in between is not. */
export class ReadTwice {
  /** Of what the first reading saw, block by block. */
  readonly #digests: string[] = [];

  /** The first reading, which must go to its end. */
  async *first(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const block of blocksOf(chunks)) {
      this.#digests.push(digestOf(block));
      yield* block;
    }
  }

  /**
   * Another one. Nothing is handed out that the first has not seen at its place.
   *
   * @throws {Unreadable} where something else stands now.
   */
  async *again(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let at = 0;
    try {
      for await (const block of blocksOf(chunks)) {
        if (digestOf(block) !== this.#digests[at++]) throw new Unreadable(CHANGED);
        yield* block;
      }
    } catch (cause) {
      // It opened whole before.
      if (cause instanceof Unreadable) throw new Unreadable(CHANGED, { cause });
      throw cause;
    }
    if (at < this.#digests.length) throw new Unreadable(CHANGED);
  }
}
