import { Buffer } from "node:buffer";

const LINE_FEED = 10;

/** Stands for a line that was longer than allowed; the line itself is skipped. */
export const TOO_LONG: unique symbol = Symbol("line too long");

/**
 * Lines of a byte stream, without their line ends (LF or CRLF); what follows the last line end
 * counts as a line when it is not empty.
 *
 * @param maxBytes Longest line; a longer one is reported as {@linkcode TOO_LONG} and never held.
 */
export async function* linesOf(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string | typeof TOO_LONG> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  const take = (part: Uint8Array): void => {
    bytes += part.length;
    if (bytes <= maxBytes) parts.push(part);
    else parts = [];
  };
  const finish = (): string | typeof TOO_LONG => {
    const line = bytes > maxBytes
      ? TOO_LONG
      : new TextDecoder().decode(Buffer.concat(parts)).replace(/\r$/, "");
    parts = [];
    bytes = 0;
    return line;
  };
  for await (const chunk of stream) {
    let from = 0;
    for (let at; (at = chunk.indexOf(LINE_FEED, from)) >= 0; from = at + 1) {
      take(chunk.subarray(from, at));
      yield finish();
    }
    // A copy: the stream may use its buffer again.
    if (from < chunk.length) take(chunk.slice(from));
  }
  if (bytes > 0) yield finish();
}
