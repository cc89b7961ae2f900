import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { SvcError } from "../../errors.ts";
import { printable } from "../../printable.ts";
import type { Env } from "../../interfaces/fields.ts";

/** A line that is longer is no answer to anything that is asked. */
const LINE_CHARACTERS = 10_000;

/** The world around a command. */
export interface CommandIo {
  readonly env: Env;
  /** What relative paths are relative to. */
  readonly cwd: string;
  /** What is read where a command asks for something. */
  readonly stdin?: ReadableStream<Uint8Array>;
  /** Whether a person sees what is written as errors. */
  readonly isErrorTerminal?: boolean;
  write(text: string): void;
  writeError(text: string): void;
}

/** The first line of standard input, without its end; empty where there is none. */
export async function readLine({ stdin }: Pick<CommandIo, "stdin">): Promise<string> {
  let text = "";
  for await (const piece of stdin?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.includes("\n") || text.length > LINE_CHARACTERS) break;
  }
  return text.split("\n")[0]!.trim();
}

/** A command line that cannot be understood; the usage is printed below its message. */
export class UsageError extends Error {}

/** What looks like a private key: typed in the wrong place, it must not be repeated in an error. */
export const PRIVATE_KEY = /suiprivkey1|[0-9a-f]{64}/i;

/**
 * Takes a command line apart.
 *
 * @param options The flags, as {@linkcode parseArgs} wants them.
 * @throws {UsageError} for another flag, or one with a wrong value.
 */
export function parseFlags<const O extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: O,
) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    const text = error instanceof Error ? error.message : "";
    throw new UsageError(text === "" || PRIVATE_KEY.test(text) ? "Unknown flag" : text);
  }
}

/** What a command found, for machines and for people. */
export type Printed = readonly [answer: object, text: string];

/** A command that has commands of its own, such as `account`. */
interface CommandGroup {
  readonly usage: string;
  run(): Promise<Printed>;
  /** Says more about some errors: lines below the message, and members for machines. */
  details?(thrown: unknown): { readonly text: string; readonly members: object } | undefined;
}

/**
 * Runs one command of a group, or prints the group's usage.
 *
 * @param args What follows the group's name on the command line.
 * @returns the exit code: 0 success, 1 error, 2 usage.
 */
export async function runGroup(
  { usage, run, details }: CommandGroup,
  args: readonly string[],
  io: CommandIo,
): Promise<number> {
  if (args.length === 0 || args.includes("--help") || args.includes("-h")) {
    io.write(usage);
    return args.length === 0 ? 2 : 0;
  }
  const json = args.includes("--json");
  try {
    const [answer, text] = await run();
    io.write(json ? JSON.stringify(answer) + "\n" : text);
    return 0;
  } catch (thrown) {
    if (thrown instanceof UsageError) {
      io.writeError(`${thrown.message}\n\n${usage}`);
      return 2;
    }
    const { message, code } = SvcError.from(thrown);
    const { text, members } = details?.(thrown) ?? { text: "" };
    io.writeError(
      json
        ? JSON.stringify({ error: message, code, ...members }) + "\n"
        : `${printable(message).replaceAll("\n", "\n  ")} (code: ${code})\n${text}`,
    );
    return 1;
  }
}
