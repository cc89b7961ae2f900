import type { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Session } from "../../session.ts";
import { isAge } from "../bundle/age_file.ts";
import { Unreadable } from "../unreadable.ts";
import type { ImportFile } from "./files.ts";

/** Bytes of a beginning by which a format is known. */
const HEAD_BYTES = 65_536;

type Chunks = AsyncIterable<Uint8Array>;

/** Something to import, opened. */
export interface Input {
  /** Its beginning. */
  readonly head: Uint8Array;
  /** Whether the beginning is all of it. */
  readonly isAll: boolean;
  /** Whether it can be read more than once: standard input and pipes cannot. */
  readonly isRepeatable: boolean;
  /** All of it, from the beginning. */
  chunks(): Chunks;
  /** Ends its use. */
  close(): Promise<void>;
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

/** A copy of what can be read once only, which is as encrypted as what came. */
async function copied(input: Input, folder: string): Promise<Input> {
  const path = join(folder, `.import-${randomUUID()}.age`);
  // An exclusive creation follows no link.
  const file = await open(path, "wx+", 0o600);
  const remove = () => rm(path, { force: true });
  const close = async () => {
    await file.close();
    await remove();
  };
  try {
    // Where the system allows it, nothing is left should the program be killed.
    await remove().catch(() => undefined);
    for await (const chunk of input.chunks()) await file.writeFile(chunk);
    return {
      ...input,
      isRepeatable: true,
      chunks: () => chunksOf(file, true),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openFile(path: string): Promise<Input> {
  const file = await open(path, "r");
  try {
    // What is no file, such as a pipe, gives its bytes once.
    const isRepeatable = (await file.stat()).isFile();
    const begun = await headOf(chunksOf(file, isRepeatable));
    const chunks = isRepeatable ? () => chunksOf(file, true) : begun.chunks;
    return { ...begun, chunks, isRepeatable, close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openStandardInput({ io }: Pick<Session, "io">): Promise<Input> {
  const nothing = new ReadableStream<Uint8Array>({ start: (all) => all.close() });
  const begun = await headOf(io.stdin ?? nothing);
  return { ...begun, isRepeatable: false, close: () => Promise.resolve() };
}

/**
 * Opens what is to be imported. A bundle is read twice, so that one that comes by standard input or
 * a pipe is copied beside the credentials meanwhile.
 *
 * @throws {Unreadable} when there is no place for the copy; what the system says.
 */
export async function openInput(
  { path, isStandardInput }: Pick<ImportFile, "path" | "isStandardInput">,
  session: Pick<Session, "io" | "path">,
): Promise<Input> {
  const input = await (isStandardInput ? openStandardInput(session) : openFile(path));
  if (input.isRepeatable || !isAge(input.head)) return input;
  try {
    if (session.path === undefined) {
      throw new Unreadable("no home directory is known to copy it to");
    }
    return await copied(input, dirname(session.path));
  } finally {
    await input.close();
  }
}
