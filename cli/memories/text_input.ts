import { Buffer } from "node:buffer";
import { TEXT_BYTES } from "../../src/wire/limits.ts";
import { CommandError, EXIT } from "../io.ts";
import type { Session } from "../session.ts";

/** Standard input as text, without the line end that `echo` adds. */
async function readStdin(
  stdin: ReadableStream<Uint8Array> | undefined,
  most: number,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stdin ?? []) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > most + 2) throw tooLong(most);
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
    return text.replace(/\r?\n$/, "");
  } catch {
    throw new CommandError(EXIT.usage, "The text is not UTF-8.");
  }
}

function tooLong(most: number): CommandError {
  const size = most >= TEXT_BYTES ? `${most / TEXT_BYTES} MiB` : `${most / 1024} KiB`;
  return new CommandError(EXIT.usage, `The text is longer than ${size}.`);
}

/**
 * The text a command is about: its words, or standard input where they are `-`.
 *
 * @param most Most bytes of UTF-8.
 * @throws {CommandError} with the usage exit code, when it is empty, too long or not UTF-8.
 */
export async function textOf(
  { io }: Pick<Session, "io">,
  words: string,
  most: number = TEXT_BYTES,
): Promise<string> {
  const text = words === "-" ? await readStdin(io.stdin, most) : words;
  if (text.trim() === "") throw new CommandError(EXIT.usage, "The text is empty.");
  if (new TextEncoder().encode(text).byteLength > most) throw tooLong(most);
  return text;
}
