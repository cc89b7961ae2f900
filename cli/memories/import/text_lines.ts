import { Buffer } from "node:buffer";

/** A line of a file: its text, or why there is none. */
export type TextLine =
  & { readonly number: number }
  & ({ readonly text: string } | { readonly problem: string });

const MARK = "\ufeff";

/** The parts of one line. */
class Parts {
  #parts: Uint8Array[] = [];
  #bytes = 0;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  add(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#most) this.#parts = [];
    // A copy: whoever reads the file may use the memory again.
    else if (part.length > 0) this.#parts.push(part.slice());
  }

  take(): { text: string } | { problem: string } {
    const isTooLong = this.#bytes > this.#most;
    const bytes = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    if (isTooLong) return { problem: "the line is too long" };
    try {
      return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
    } catch {
      return { problem: "the line is not UTF-8" };
    }
  }
}

/**
 * The lines of a file, without their ends and without a byte order mark, however large it is; a line
 * of more bytes than `most` is named, and no more of it is kept.
 */
export async function* textLines(
  chunks: AsyncIterable<Uint8Array>,
  most: number,
): AsyncGenerator<TextLine, void, undefined> {
  const parts = new Parts(most);
  let number = 0;
  const line = (): TextLine => {
    const taken = parts.take();
    number++;
    if (number > 1 || !("text" in taken)) return { number, ...taken };
    return { number, text: taken.text.startsWith(MARK) ? taken.text.slice(1) : taken.text };
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      parts.add(chunk.subarray(start, end));
      yield line();
      start = end + 1;
    }
    parts.add(chunk.subarray(start));
  }
  if (!parts.isEmpty) yield line();
}
