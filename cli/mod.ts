/**
 * Terminal commands: sign in and out; save, find, list, correct, delete, carry away and bring back
 * memories; install.
 *
 * @module
 */
import { SvcConnectionError, SvcError } from "../src/client/mod.ts";
import { type CommandLine, type CommandName, parseCommandLine } from "./command_line.ts";
import { activity, list, namespaces, recall, remember } from "./commands.ts";
import { helpText } from "./help.ts";
import { analyze, ask } from "./memories/ask.ts";
import { evaluate } from "./memories/eval/eval.ts";
import { edit } from "./memories/edit.ts";
import { exportMemories } from "./memories/export/export.ts";
import { forget } from "./memories/forget.ts";
import { get, history } from "./memories/get.ts";
import { importMemories } from "./memories/import/import.ts";
import { receipt } from "./memories/receipt.ts";
import { review } from "./memories/review.ts";
import { restore } from "./memories/restore.ts";
import { LATER } from "../src/later.ts";
import { onOneLine, printable } from "../src/printable.ts";
import { type CliIo, CommandError, EXIT, type ExitCode, programOf } from "./io.ts";
import { REFUSALS, secretRefusal } from "./refusals.ts";
import { type Command, openSession } from "./session.ts";
import { printCompletions } from "./completions.ts";
import { openDashboard } from "./open.ts";
import { login, logout } from "./sign_in.ts";
import { showStatus } from "./status.ts";
import { tryOut } from "./try.ts";

export type { CommandLine, CommandName } from "./command_line.ts";
export { type CliIo, EXIT, type ExitCode } from "./io.ts";
export type { Command, Session } from "./session.ts";
export type * from "./settings.ts";
export type { FlagKind } from "./flags.ts";
export type { Credentials } from "../src/client/mod.ts";

const rejected = (program: string) =>
  `The relayer rejected your key. It may have been removed, or this is another
environment than the one you signed in to, or a proxy or network fault got in between.
If it stays: ${program} logout, then ${program} login with the environment you want.`;

/** What went wrong, for people, and the exit code it means. */
function explain(error: unknown, io: CliIo): { message: string; exitCode: ExitCode } {
  if (error instanceof CommandError) return error;
  if (error instanceof SvcConnectionError) {
    // Somebody is there who redirects.
    const question = error.reason.startsWith("redirects") ? "" : ". Is it running?";
    return { message: error.message + question, exitCode: EXIT.unreachable };
  }
  if (!(error instanceof SvcError)) {
    return { message: error instanceof Error ? error.message : "Failed", exitCode: EXIT.error };
  }
  const { status, code } = error;
  const known = code === "secret_found" ? onOneLine(secretRefusal(error)) : REFUSALS.get(code);
  if (status === 401) {
    const message = known ?? rejected(programOf(io));
    return { message: `${message} (code: ${code})`, exitCode: EXIT.notSignedIn };
  }
  return {
    message: `${known ?? onOneLine(error.message)} (code: ${code})`,
    exitCode: status === 403 ? EXIT.notSignedIn : EXIT.error,
  };
}

/** Commands with packages of their own, for programs that have them inside. */
export interface HeavyCommands {
  /** Default: `install/mod.ts`, fetched with its packages when it is wanted. */
  readonly install?: Command;
}

const COMMANDS: Readonly<Record<CommandName, Command>> = {
  login,
  logout,
  status: showStatus,
  open: openDashboard,
  try: tryOut,
  remember,
  recall,
  namespaces,
  activity,
  list,
  get,
  history,
  edit,
  forget,
  receipt,
  ask,
  analyze,
  eval: evaluate,
  restore,
  review,
  export: exportMemories,
  import: importMemories,
  completions: printCompletions,
  async install(session) {
    const { install }: { readonly install: Command } = await import(`./install/mod.ts${LATER}`);
    return await install(session);
  },
};

async function runCommand(
  line: CommandLine,
  args: readonly string[],
  io: CliIo,
  heavy: HeavyCommands,
): Promise<ExitCode> {
  const { command } = line;
  if (command === undefined) throw new CommandError(EXIT.usage, helpText(programOf(io)));
  const session = await openSession(line, args, io);
  return await { ...COMMANDS, ...heavy }[command](session) ?? EXIT.success;
}

/**
 * Runs one terminal command.
 *
 * @param args What follows the program's name.
 * @returns the exit code: 0 success, 1 error, 2 usage, 3 not signed in or rejected, 4 relayer
 * unreachable.
 */
export async function runCli(
  args: readonly string[],
  io: CliIo,
  heavy: HeavyCommands = {},
): Promise<ExitCode> {
  let json = args.includes("--json");
  try {
    const line = parseCommandLine(args, programOf(io));
    json = line.json;
    for (const text of line.ignored) io.writeError(`Note: ${text}\n`);
    if (line.help) {
      io.write(helpText(programOf(io), line.command));
      return EXIT.success;
    }
    return await runCommand(line, args, io, heavy);
  } catch (error) {
    const { message, exitCode } = explain(error, io);
    const code = error instanceof SvcError ? { code: error.code } : {};
    io.writeError(
      json ? JSON.stringify({ error: message, ...code }) + "\n" : `${printable(message)}\n`,
    );
    return exitCode;
  }
}
