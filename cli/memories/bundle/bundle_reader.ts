import { createHash } from "node:crypto";
import { SvcError } from "../../../src/errors.ts";
import { type BundleStatement, verifyBundleSignature } from "../../../src/wire/signing/bundles.ts";
import { IMPORT_BODY_BYTES } from "../../../src/wire/limits.ts";
import type { Input } from "../import/input.ts";
import { textLines } from "../import/text_lines.ts";
import { Unreadable } from "../unreadable.ts";
import { AgeHeader, type FileKey, type Secret } from "./age_file.ts";
import { streamOf, unpacked } from "./byte_streams.ts";
import { ReadTwice } from "./read_twice.ts";

/** A bundle whose every byte was read and found to be as it was signed. */
export interface Bundle {
  readonly statement: BundleStatement;
  /**
   * Its lines, as bytes: an export, and the signature. Read anew each time; ends with an
   * {@linkcode Unreadable} where they are no longer what was checked.
   */
  chunks(): AsyncIterable<Uint8Array>;
}

/** The bytes of a file, counted as they are read. */
class PackedBytes {
  read = 0;

  async *of(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.read += chunk.length;
      yield chunk;
    }
  }
}

/** What stands in a bundle. @throws {Unreadable} when a byte was altered, or the end is missing. */
async function* contentOf(
  chunks: AsyncIterable<Uint8Array>,
  key: FileKey,
): AsyncGenerator<Uint8Array> {
  try {
    yield* unpacked(await key.decrypt(streamOf(chunks)));
  } catch (cause) {
    const isSystem = cause instanceof Error && "syscall" in cause;
    if (isSystem || cause instanceof Unreadable) throw cause;
    const what = "it is damaged, cut off, or no bundle (svc restore-backup puts a backup back)";
    throw new Unreadable(what, { cause });
  }
}

/**
 * Reads all lines but the last one, which it checks them against. Each line costs time, also an empty
 * one, of which a thousand fit into a packed byte: one of an export, with an id and times of its own,
 * takes more than a byte.
 */
async function check(
  chunks: AsyncIterable<Uint8Array>,
  packed: PackedBytes,
): Promise<BundleStatement> {
  const hash = createHash("sha256");
  let lines = 0;
  let last: string | undefined;
  for await (const line of textLines(chunks, IMPORT_BODY_BYTES)) {
    if ("problem" in line) throw new Unreadable(`it is no bundle: ${line.problem}`);
    if (line.number > packed.read) {
      throw new Unreadable("it is no bundle: it unpacks to more lines than it has bytes");
    }
    if (last !== undefined) {
      hash.update(`${last}\n`);
      lines++;
    }
    last = line.text;
  }
  let statement: BundleStatement;
  try {
    statement = verifyBundleSignature(last ?? "");
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    throw new Unreadable(
      error.code === "signature_invalid"
        ? "its signature is not of the key it names: it was altered"
        : "it has no signature at its end: it was cut off, or is no bundle",
    );
  }
  if (statement.lines !== lines || statement.sha256 !== hash.digest("hex")) {
    throw new Unreadable("it was altered after it was signed");
  }
  return statement;
}

/**
 * Opens a bundle and reads it to its end: nothing of it is used before it is known to be whole and
 * unaltered.
 *
 * @param input Must be repeatable.
 * @param secret Is asked what opens it.
 * @throws {Unreadable} when it was altered or cut off, or the secret does not open it.
 */
export async function openBundle(
  input: Input,
  secret: (isForPassphrase: boolean) => Promise<Secret>,
): Promise<Bundle> {
  const header = new AgeHeader(input.head);
  const key = await header.open(await secret(header.isForPassphrase));
  const packed = new PackedBytes();
  const reading = new ReadTwice();
  const first = reading.first(contentOf(packed.of(input.chunks()), key));
  return {
    statement: await check(first, packed),
    chunks: () => reading.again(contentOf(input.chunks(), key)),
  };
}
