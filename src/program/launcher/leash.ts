import { invalid } from "../invalid.ts";

/** A start line larger than this is not ours, in bytes. */
const MAX_LINE = 1_048_576;

/**
 * Reads the standard input of a child: one line, then silence until the parent is gone.
 *
 * @returns the line, without its end, and what resolves when the other end closes or its process
 * dies.
 * @throws {SvcError} `invalid_parameter` when the input ends, or 1 MiB passes, without a line.
 */
export async function readLeash(
  input: ReadableStream<Uint8Array>,
): Promise<{ readonly line: string; readonly ended: Promise<void> }> {
  const reader = input.getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done || size > MAX_LINE) {
      await reader.cancel();
      throw invalid("Standard input holds no start line");
    }
    const end = value.indexOf(10);
    parts.push(end < 0 ? value : value.subarray(0, end));
    size += value.length;
    if (end >= 0) break;
  }
  const line = await new Blob(parts as Uint8Array<ArrayBuffer>[]).text();
  return { line, ended: untilEnd(reader) };
}

async function untilEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // A broken pipe is an end as well.
  }
}
