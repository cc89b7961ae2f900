import { noProxyHere } from "./src/client/no_proxy.ts";
import { COMMANDS, isCommand } from "./cli/command_line.ts";
import { HELP } from "./src/program/commands/help.ts";
import type * as Backups from "./src/program/commands/backup.ts";
import type { ProcessIo } from "./src/program/commands/relayer.ts";
import { LATER } from "./src/later.ts";
import { suggest } from "./src/suggestion.ts";
import { VERSION } from "./src/wire/version.ts";

const encoder = new TextEncoder();

const backups = (): Promise<typeof Backups> => import(`./src/program/commands/backup.ts${LATER}`);

/** A command of the machine that the relayer runs on, loaded when it is called. */
interface MachineCommand {
  /** Words that may follow it, for completions. */
  readonly words: readonly string[];
  load(): Promise<(args: readonly string[], io: ProcessIo) => Promise<number>>;
}

const MACHINE_COMMANDS: Readonly<Record<string, MachineCommand>> = {
  stop: {
    words: ["--json"],
    load: async () => (await import("./src/program/commands/background.ts")).runStop,
  },
  logs: {
    words: ["--follow", "--lines"],
    load: async () => (await import("./src/program/commands/background.ts")).runLogs,
  },
  service: {
    words: ["install", "uninstall", "--print", "--yes"],
    load: async () => (await import("./src/program/commands/autostart.ts")).runService,
  },
  update: {
    words: ["--check"],
    load: async () => (await import("./src/program/commands/update.ts")).runUpdate,
  },
  account: {
    words: ["create", "recover", "list", "add-key", "remove-key", "remove-all-keys"],
    load: async () => (await import("./src/program/commands/account.ts")).runAccount,
  },
  token: {
    words: ["create", "list", "revoke", "--expires", "--label", "--read-only", "--namespace"],
    load: async () => (await import("./src/program/commands/token.ts")).runToken,
  },
  doctor: {
    words: ["--public", "--json"],
    load: async () => (await import("./src/program/commands/doctor.ts")).runDoctor,
  },
  backup: {
    words: ["verify", "--to", "--keep", "--recipient", "--json"],
    load: async () => (await backups()).runBackup,
  },
  "restore-backup": {
    words: ["--replace", "--identity", "--json"],
    load: async () => (await backups()).runRestoreBackup,
  },
  move: {
    words: ["--to", "--folder", "--cancel", "--json"],
    load: async () => (await import("./src/program/move/command.ts")).runMove,
  },
  key: {
    words: ["rotate", "--keep-old", "--next", "--json"],
    load: async () => (await import("./src/program/commands/key.ts")).runKey,
  },
  model: {
    words: ["list", "get", "check", "--from", "--accept-terms", "--json"],
    load: async () => (await import("./src/program/model/command.ts")).runModel,
  },
  contract: {
    words: ["publish"],
    load: async () => (await import("./src/program/commands/contract.ts")).runContract,
  },
};

/** Commands that are not the terminal's, and words that may follow them, for completions. */
const FURTHER_COMMANDS = {
  start: ["--background"],
  ...Object.fromEntries(
    Object.entries(MACHINE_COMMANDS).map(([name, { words }]) => [name, words]),
  ),
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
    const { runCli }: typeof import("./cli/mod.ts") = await import(`./cli/mod.ts${LATER}`);
    const terminal = {
      ...io,
      program: "svc",
      isTerminal: Deno.stdout.isTerminal(),
      columns: Deno.stdout.isTerminal() ? Deno.consoleSize().columns || undefined : undefined,
      isInputTerminal: Deno.stdin.isTerminal(),
      hideTyping: (isHidden: boolean) => Deno.stdin.setRaw(isHidden),
      furtherCommands: FURTHER_COMMANDS,
    };
    const code = await runCli([command, ...rest], terminal);
    return args.length === 0 ? 0 : code;
  }
  if (Object.hasOwn(MACHINE_COMMANDS, command)) {
    return await (await MACHINE_COMMANDS[command]!.load())(rest, io);
  }
  if (command === "start" && rest.length > 0) {
    const { runInBackground } = await import("./src/program/commands/background.ts");
    return await runInBackground(rest, io);
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
  const known = [...Object.keys(COMMANDS), ...Object.keys(FURTHER_COMMANDS)];
  const meant = suggest(command, known);
  const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`;
  io.writeError(`Unknown command "${args.join(" ")}".${hint}\n\n${HELP}`);
  return 2;
}

// Ends at once: what still waits, such as the leash on standard input, must not keep it alive.
if (import.meta.main) Deno.exit(await run(Deno.args));
