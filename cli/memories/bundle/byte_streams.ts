/** Bytes that are unpacked together: a thousand times as many may come of them. */
const PIECE_BYTES = 4096;

/** Chunks as a stream that asks for each one when it is wanted. */
export function streamOf(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await iterator.return?.();
    },
  }, { highWaterMark: 0 });
}

/** What was compressed by gzip, unpacked in pieces, so that no small file fills the memory. */
export function unpacked(packed: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const chunk of packed) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
        yield chunk.subarray(at, at + PIECE_BYTES);
      }
    }
  }
  const gzip = new DecompressionStream("gzip") as ReadableWritablePair<Uint8Array, Uint8Array>;
  return streamOf(pieces()).pipeThrough(gzip);
}
