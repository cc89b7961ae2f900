import { parseArgs } from "node:util";
import { CommandError, EXIT, printable } from "./io.ts";
import { suggestion } from "./suggestion.ts";

/** Names of the commands. */
export type CommandName =
  | "login"
  | "logout"
  | "status"
  | "remember"
  | "recall"
  | "namespaces"
  | "list"
  | "forget"
  | "install";

/** A command's words and flags. */
interface Shape {
  /** What its words are called; none: it takes none. */
  readonly words?: string;
  /** Flags besides those every command has. */
  readonly flags: readonly string[];
}

/** The commands. */
export const COMMANDS: Readonly<Record<CommandName, Shape>> = {
  login: { flags: [] },
  logout: { flags: [] },
  status: { flags: [] },
  remember: { words: "text", flags: [] },
  recall: { words: "query", flags: ["limit"] },
  namespaces: { flags: [] },
  list: { flags: ["limit"] },
  forget: { words: "namespace", flags: ["yes"] },
  install: { words: "host", flags: ["yes", "print"] },
};

/** Flags of every command: those of the package, whether or not the command uses them. */
const EVERYWHERE = {
  relayer: { type: "string" },
  "relayer-url": { type: "string" },
  "web-url": { type: "string" },
  web: { type: "string" },
  label: { type: "string" },
  namespace: { type: "string" },
  ns: { type: "string" },
  transport: { type: "string" },
  prod: { type: "boolean" },
  dev: { type: "boolean" },
  staging: { type: "boolean" },
  local: { type: "boolean" },
  login: { type: "boolean" },
  logout: { type: "boolean" },
  "no-browser": { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;
const FLAGS = {
  ...EVERYWHERE,
  limit: { type: "string" },
  yes: { type: "boolean" },
  print: { type: "boolean" },
} as const;

/** A command line, read. */
export interface CommandLine {
  /** The command; absent when only help is wanted or nothing was said. */
  readonly command?: CommandName;
  /** The words after it, joined with a space. */
  readonly words: string;
  /** Whether help is wanted. */
  readonly help: boolean;
  /** Whether output is for machines. */
  readonly json: boolean;
  /** Whether the answer to questions is yes. */
  readonly yes: boolean;
  /** Whether something is to be shown only. */
  readonly print: boolean;
  /** Limit named by a flag. */
  readonly limit?: number;
  /** Flags of the package itself as they were given, for a configuration that repeats them. */
  readonly packageFlags: readonly string[];
  /** What to say about flags that nobody knows and that are ignored, one line each. */
  readonly ignored: readonly string[];
}

const usage = (message: string): CommandError => new CommandError(EXIT.usage, message);
/** Whether a word is the name of a command. */
export const isCommand = (word: string): word is CommandName => Object.hasOwn(COMMANDS, word);

/** The flags of a command line: their names, as written, and where. */
function flagsOf(args: string[]) {
  const { tokens } = parseArgs({ args, options: FLAGS, strict: false, tokens: true });
  return tokens.filter((token) => token.kind === "option");
}

/** The arguments without flags nobody knows, by what is written where. */
function knownArgs(args: string[]): { readonly kept: string[]; readonly unknown: string[] } {
  const unknown = new Map<number, string>();
  for (const { name, rawName, index } of flagsOf(args)) {
    if (Object.hasOwn(FLAGS, name) || unknown.has(index)) continue;
    unknown.set(index, printable(rawName));
  }
  return { kept: args.filter((_, at) => !unknown.has(at)), unknown: [...unknown.values()] };
}

/** What to say about unknown flags. */
function ignoredFlags(unknown: readonly string[], command: CommandName | undefined): string[] {
  const own = command === undefined ? Object.keys(FLAGS) : COMMANDS[command].flags;
  const known = [...own, ...Object.keys(EVERYWHERE)].map((name) => `--${name}`);
  return unknown.map((flag) => {
    const hint = suggestion(flag, known);
    // What is deleted does not come back: a flag that was to hold it back must not be ignored.
    if (command === "forget") throw usage(`Unknown flag ${flag}: nothing is deleted.${hint}`);
    return `The flag ${flag} is unknown and ignored.${hint}`;
  });
}

function checkFlags(args: string[], command: CommandName): void {
  const { flags } = COMMANDS[command];
  for (const { name, rawName } of flagsOf(args)) {
    if (Object.hasOwn(EVERYWHERE, name) || flags.includes(name)) continue;
    throw usage(`${rawName} is not a flag of ${command}.`);
  }
}

function parseLimit(raw: string): number {
  if (!/^\d{1,6}$/.test(raw) || Number(raw) < 1) throw usage("--limit must be a number from 1.");
  return Number(raw);
}

/** The values, or a message a person can act on. */
function parseValues(args: string[]) {
  try {
    return parseArgs({ args, options: FLAGS, allowPositionals: true });
  } catch (error) {
    const flag = /--[\w-]+/.exec(error instanceof Error ? error.message : "")?.[0] ?? "A flag";
    throw usage(`${flag} has no value, or one it does not take.`);
  }
}

/**
 * Reads a command line, but for the flags that `resolveSettings` reads. An unknown flag is ignored
 * (docs/protocol.md#13.1), except by `forget`; like there, it takes no value.
 *
 * @param program What the user calls it.
 * @throws {CommandError} with the usage exit code.
 */
export function parseCommandLine(all: string[], program: string): CommandLine {
  const { kept: args, unknown } = knownArgs(all);
  const loose = parseArgs({ args, options: FLAGS, strict: false, allowPositionals: true });
  const [first = commandOfFlags(loose.values)] = loose.positionals;
  const command = first !== undefined && isCommand(first) ? first : undefined;
  const ignored = ignoredFlags(unknown, command);
  if (command !== undefined) checkFlags(args, command);
  if (first !== undefined && command === undefined) {
    const hint = suggestion(first, Object.keys(COMMANDS)) || ` See: ${program} --help`;
    throw usage(`Unknown command "${printable(first)}".${hint}`);
  }
  const { values, positionals } = parseValues(args);
  const line: CommandLine = {
    words: positionals.slice(1).join(" "),
    help: values.help ?? false,
    json: values.json ?? false,
    yes: values.yes ?? false,
    print: values.print ?? false,
    packageFlags: packageFlags(values),
    ignored,
    ...command && { command },
    ...values.limit && { limit: parseLimit(values.limit) },
  };
  if (command !== undefined && !line.help) checkWords(command, line.words);
  return line;
}

/** `--login` and `--logout` are commands, too. */
function commandOfFlags(values: { login?: unknown; logout?: unknown }): CommandName | undefined {
  if (values.logout) return "logout";
  return values.login ? "login" : undefined;
}

/** Flags that are repeated, with their short names. */
const REPEATED = [
  ["relayer", "relayer-url"],
  ["web-url", "web"],
  ["label"],
  ["namespace", "ns"],
  ["transport"],
] as const;
const REPEATED_SWITCHES = ["prod", "dev", "staging", "local", "no-browser"] as const;

function packageFlags(values: ReturnType<typeof parseValues>["values"]): string[] {
  const flags: string[] = REPEATED_SWITCHES.filter((name) => values[name]).map((name) =>
    `--${name}`
  );
  for (const names of REPEATED) {
    const value = names.map((name) => values[name]).find(Boolean);
    if (value) flags.push(`--${names[0]}=${value}`);
  }
  return flags;
}

function checkWords(command: CommandName, words: string): void {
  const wanted = COMMANDS[command].words;
  if (wanted === undefined && words !== "") throw usage(`${command} takes no words.`);
  if (wanted !== undefined && words.trim() === "") throw usage(`${command} needs a ${wanted}.`);
}
