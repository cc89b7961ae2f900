import type { Buffer } from "node:buffer";
import { type FileHandle, open } from "node:fs/promises";
import type { ImportFile } from "./files.ts";

/** Bytes of a beginning by which a format is known. */
const HEAD_BYTES = 65_536;

type Chunks = AsyncIterable<Uint8Array>;

/** Something to import, opened. */
export interface Input extends AsyncDisposable {
  /** Its beginning. */
  readonly head: Uint8Array;
  /** Whether the beginning is all of it. */
  readonly isAll: boolean;
  /** Whether it can be read more than once: standard input and pipes cannot. */
  readonly isRepeatable: boolean;
  /** All of it, from the beginning. */
  chunks(): Chunks;
}

async function* chunksOf(file: FileHandle, isRepeatable: boolean): AsyncGenerator<Uint8Array> {
  for (let position = 0;;) {
    // A new one each time: whoever reads may keep it for a while.
    const buffer = new Uint8Array(HEAD_BYTES);
    const at = isRepeatable ? position : null;
    const { bytesRead } = await file.read(buffer as Buffer, 0, buffer.length, at);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** The beginning of chunks, and all of them, once. */
async function headOf(chunks: Chunks): Promise<Pick<Input, "head" | "isAll" | "chunks">> {
  const iterator = chunks[Symbol.asyncIterator]();
  const head = new Uint8Array(HEAD_BYTES);
  const taken: Uint8Array[] = [];
  let bytes = 0;
  let isAll = false;
  while (bytes < HEAD_BYTES && !isAll) {
    const { done, value } = await iterator.next();
    if (done) isAll = true;
    else {
      head.set(value.subarray(0, HEAD_BYTES - bytes), bytes);
      bytes += value.length;
      taken.push(value);
    }
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    yield* taken.splice(0);
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { head: head.subarray(0, bytes), isAll, chunks: all };
}

/**
 * Opens what is to be imported.
 *
 * @param stdin Standard input, which is read where it is named.
 * @throws what the system says.
 */
export async function openInput(
  { path, isStandardInput }: ImportFile,
  stdin: Chunks | undefined,
): Promise<Input> {
  if (isStandardInput) {
    const begun = await headOf(stdin ?? new ReadableStream({ start: (all) => all.close() }));
    return { ...begun, isRepeatable: false, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const file = await open(path, "r");
  try {
    // What is no file, such as a pipe, gives its bytes once.
    const isRepeatable = (await file.stat()).isFile();
    const begun = await headOf(chunksOf(file, isRepeatable));
    const chunks = isRepeatable ? () => chunksOf(file, true) : begun.chunks;
    return { ...begun, chunks, isRepeatable, [Symbol.asyncDispose]: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}
