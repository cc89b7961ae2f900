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

/** A command that has commands of its own, such as `account`. */
export interface CommandGroup {
  readonly usage: string;
  run(args: readonly string[]): Promise<void>;
  /** Text of an error; `json` for machines. */
  printError(thrown: unknown, json: boolean): string;
}

/**
 * Runs one command of a group, or prints the group's usage.
 *
 * @param args What follows the group's name on the command line.
 * @returns the exit code: 0 success, 1 error, 2 usage.
 */
export async function runGroup(
  { usage, run, printError }: CommandGroup,
  args: readonly string[],
  io: CommandIo,
): Promise<number> {
  if (args.length === 0 || args.includes("--help") || args.includes("-h")) {
    io.write(usage);
    return args.length === 0 ? 2 : 0;
  }
  try {
    await run(args);
    return 0;
  } catch (thrown) {
    const isUsage = thrown instanceof UsageError;
    io.writeError(
      isUsage ? `${thrown.message}\n\n${usage}` : printError(thrown, args.includes("--json")),
    );
    return isUsage ? 2 : 1;
  }
}
