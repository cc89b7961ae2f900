import { createHash } from "node:crypto";
import { SvcError } from "../../../src/errors.ts";
import { type BundleStatement, verifyBundleSignature } from "../../../src/wire/signing/bundles.ts";
import { IMPORT_BODY_BYTES } from "../../../src/wire/limits.ts";
import type { Input } from "../import/input.ts";
import { textLines } from "../import/text_lines.ts";
import { Unreadable } from "../unreadable.ts";
import { AgeHeader, type FileKey, type Secret } from "./age_file.ts";
import { streamOf, unpacked } from "./byte_streams.ts";

/** A bundle whose every byte was read and found to be as it was signed. */
export interface Bundle {
  readonly statement: BundleStatement;
  /** Its lines, as bytes: an export, and the signature. Read anew each time. */
  chunks(): AsyncIterable<Uint8Array>;
}

/** What stands in a bundle. @throws {Unreadable} when a byte was altered, or the end is missing. */
async function* contentOf(input: Input, key: FileKey): AsyncGenerator<Uint8Array> {
  try {
    yield* unpacked(await key.decrypt(streamOf(input.chunks())));
  } catch (cause) {
    const isSystem = cause instanceof Error && "syscall" in cause;
    if (isSystem || cause instanceof Unreadable) throw cause;
    const what = "it is damaged, cut off, or no bundle (svc restore-backup puts a backup back)";
    throw new Unreadable(what, { cause });
  }
}

/** Reads all lines but the last one, which it checks them against. */
async function check(chunks: AsyncIterable<Uint8Array>): Promise<BundleStatement> {
  const hash = createHash("sha256");
  let lines = 0;
  let last: string | undefined;
  for await (const line of textLines(chunks, IMPORT_BODY_BYTES)) {
    if ("problem" in line) throw new Unreadable(`it is no bundle: ${line.problem}`);
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
  const chunks = () => contentOf(input, key);
  return { statement: await check(chunks()), chunks };
}
