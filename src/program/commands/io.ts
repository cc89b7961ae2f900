import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { SvcError } from "../../errors.ts";
import type { Env } from "../../interfaces/fields.ts";

/** The world around a command. */
export interface CommandIo {
  readonly env: Env;
  /** What relative paths are relative to. */
  readonly cwd: string;
  write(text: string): void;
  writeError(text: string): void;
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

/** Replaces control characters in text of a node or a compiler; line breaks stay. */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\n]/gu, "\ufffd");
}

/** More about an error than its message and code. */
interface ErrorDetails {
  /** Lines below the message. */
  readonly text: string;
  /** Further members for machines. */
  readonly members: object;
}

/** A command that has commands of its own, such as `account`. */
export interface CommandGroup {
  readonly usage: string;
  run(): Promise<void>;
  /** Says more about some errors. */
  details?(thrown: unknown): ErrorDetails | undefined;
}

function printError(thrown: unknown, details: ErrorDetails | undefined, json: boolean): string {
  const { message, code } = SvcError.from(thrown);
  return json
    ? JSON.stringify({ error: message, code, ...details?.members }) + "\n"
    : `${printable(message)} (code: ${code})\n${details?.text ?? ""}`;
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
  try {
    await run();
    return 0;
  } catch (thrown) {
    const isUsage = thrown instanceof UsageError;
    io.writeError(
      isUsage
        ? `${thrown.message}\n\n${usage}`
        : printError(thrown, details?.(thrown), args.includes("--json")),
    );
    return isUsage ? 2 : 1;
  }
}
