import { noProxyHere } from "./src/client/no_proxy.ts";
import { isCommand } from "./cli/command_line.ts";
import { HELP } from "./src/program/commands/help.ts";
import type * as Backups from "./src/program/commands/backup.ts";
import type { ProcessIo } from "./src/program/commands/relayer.ts";
import { VERSION } from "./src/wire/version.ts";

const encoder = new TextEncoder();

/** Computed specifiers, so that a start does not download packages of these commands. */
const TERMINAL_COMMANDS = new URL("./cli/mod.ts", import.meta.url).href;
const BACKUPS = new URL("./src/program/commands/backup.ts", import.meta.url).href;

/** Commands that are not the terminal's, and words that may follow them, for completions. */
const FURTHER_COMMANDS = {
  start: [],
  account: ["create", "recover", "list", "add-key", "remove-key", "remove-all-keys"],
  doctor: ["--public", "--json"],
  backup: ["verify", "--to", "--keep", "--recipient", "--json"],
  "restore-backup": ["--replace", "--identity", "--json"],
  contract: ["publish"],
  serve: [],
  sidecar: [],
};

function writeAll(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  const bytes = encoder.encode(text);
  for (let done = 0; done < bytes.length;) done += stream.writeSync(bytes.subarray(done));
}

/** Writes a log line; a closed pipe must not end the program. */
function tryToWriteAll(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  try {
    writeAll(stream, text);
  } catch {
    // There is nowhere left to report it.
  }
}

/** Writes output; a reader that closes the pipe early, such as `head`, is no failure. */
function writeOut(text: string): void {
  try {
    writeAll(Deno.stdout, text);
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

/** A child may read neither environment nor folder: its settings come by standard input. */
function processIo(isChild: boolean): ProcessIo {
  return {
    env: isChild ? {} : Deno.env.toObject(),
    cwd: isChild ? "" : Deno.cwd(),
    stdin: Deno.stdin.readable,
    isErrorTerminal: !isChild && Deno.stderr.isTerminal(),
    write: writeOut,
    writeError: (text) => tryToWriteAll(Deno.stderr, text),
    exit: (code) => Deno.exit(code),
  };
}

/** Runs one command and answers its exit code; each loads only what it needs. */
async function run(args: readonly string[]): Promise<number> {
  // Whoever says nothing is told where things stand, and what comes next.
  const [command = "status", ...rest] = args;
  const isChild = rest[0] === "--boot-stdin";
  const io = processIo(isChild);
  if (!isChild) Deno.env.set("NO_PROXY", noProxyHere(io.env));
  if (isCommand(command)) {
    const { runCli } = await import(TERMINAL_COMMANDS) as typeof import("./cli/mod.ts");
    const terminal = {
      ...io,
      program: "svc",
      isTerminal: Deno.stdout.isTerminal(),
      furtherCommands: FURTHER_COMMANDS,
    };
    const code = await runCli([command, ...rest], terminal);
    return args.length === 0 ? 0 : code;
  }
  if (command === "account") {
    const { runAccount } = await import("./src/program/commands/account.ts");
    return await runAccount(rest, io);
  }
  if (command === "doctor") {
    const { runDoctor } = await import("./src/program/commands/doctor.ts");
    return await runDoctor(rest, io);
  }
  if (command === "backup" || command === "restore-backup") {
    const { runBackup, runRestoreBackup } = await import(BACKUPS) as typeof Backups;
    return await (command === "backup" ? runBackup : runRestoreBackup)(rest, io);
  }
  if (command === "contract") {
    const { runContract } = await import("./src/program/commands/contract.ts");
    return await runContract(rest, io);
  }
  if ([command, ...rest].some((word) => word === "--help" || word === "-h") || command === "help") {
    io.write(HELP);
    return 0;
  }
  if (command === "--version") {
    io.write(`${VERSION}\n`);
    return 0;
  }
  if (rest.length === (isChild ? 1 : 0)) {
    const { runRelayer } = await import("./src/program/commands/relayer.ts");
    const code = await runRelayer(command, isChild, io);
    if (code !== undefined) return code;
  }
  io.writeError(`Unknown command "${args.join(" ")}"\n\n${HELP}`);
  return 2;
}

// Ends at once: what still waits, such as the leash on standard input, must not keep it alive.
if (import.meta.main) Deno.exit(await run(Deno.args));
