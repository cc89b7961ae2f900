import { onOneLine } from "../src/printable.ts";
import { CommandError, EXIT, suggestion } from "./io.ts";
import { FLAG_NAMES, type Flags, incompleteFlag, readFlags } from "./flags.ts";

/** A command's words and flags. */
interface Shape {
  /** What its words are called; none: it takes none. */
  readonly words?: string;
  /** Flags besides those every command has. */
  readonly flags: readonly string[];
}

const SHAPES = {
  login: { flags: [] },
  logout: { flags: [] },
  status: { flags: [] },
  open: { flags: [] },
  try: { flags: [] },
  remember: { words: "text", flags: [] },
  recall: { words: "query", flags: ["limit"] },
  namespaces: { flags: [] },
  list: { flags: ["limit"] },
  activity: { flags: ["limit"] },
  forget: { words: "namespace", flags: ["yes"] },
  completions: { words: "shell", flags: [] },
  install: { words: "host", flags: ["yes", "print"] },
} satisfies Record<string, Shape>;

/**
 * Names of the commands.
 *
 * @internal
 */
export type CommandName = keyof typeof SHAPES;

export const COMMANDS: Readonly<Record<CommandName, Shape>> = SHAPES;

/** Flags of commands besides those of the package. */
export const COMMAND_FLAGS = {
  json: "switch",
  limit: "text",
  yes: "switch",
  print: "switch",
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
export const isCommand = (word: string): word is CommandName => Object.hasOwn(COMMANDS, word);

function ignoredFlags(unknown: readonly string[], command: CommandName | undefined): string[] {
  const own = command === undefined ? Object.keys(COMMAND_FLAGS) : COMMANDS[command].flags;
  const known = [...own, "json", ...FLAG_NAMES].map((name) => `--${name}`);
  return unknown.map(onOneLine).map((flag) => {
    const hint = suggestion(flag, known);
    // What is deleted does not come back: a flag that was to hold it back must not be ignored.
    if (command === "forget") throw usage(`Unknown flag ${flag}: nothing is deleted.${hint}`);
    return `The flag ${flag} is unknown and ignored.${hint}`;
  });
}

/** Refuses flags of other commands. */
function checkFlags({ values, switches, incomplete }: Flags, command: CommandName): void {
  const given = [...Object.keys(values), ...switches, ...incomplete.map((name) => name.slice(2))];
  for (const name of Object.keys(COMMAND_FLAGS)) {
    if (name === "json" || COMMANDS[command].flags.includes(name) || !given.includes(name)) {
      continue;
    }
    throw usage(`--${name} is not a flag of ${command}.`);
  }
}

function parseLimit(raw: string): number {
  if (!/^\d{1,6}$/.test(raw) || Number(raw) < 1) throw usage("--limit must be a number from 1.");
  return Number(raw);
}

/**
 * Reads a command line, but for the flags that `resolveSettings` reads. An unknown flag is ignored
 * (docs/protocol.md#13.1), except by `forget`; like there, it takes no value.
 *
 * @param program What the user calls it.
 * @throws {CommandError} with the usage exit code.
 */
export function parseCommandLine(args: readonly string[], program: string): CommandLine {
  const flags = readFlags(args, COMMAND_FLAGS);
  const { values, switches, words: [word, ...words], incomplete } = flags;
  const has = (name: string): boolean => switches.includes(name);
  const first = word ?? (has("logout") ? "logout" : has("login") ? "login" : undefined);
  const command = first !== undefined && isCommand(first) ? first : undefined;
  const ignored = ignoredFlags(flags.unknown, command);
  if (command !== undefined) checkFlags(flags, command);
  if (first !== undefined && command === undefined) {
    const hint = suggestion(first, Object.keys(COMMANDS)) || ` See: ${program} --help`;
    throw usage(`Unknown command "${onOneLine(first)}".${hint}`);
  }
  if (incomplete[0] !== undefined) throw usage(incompleteFlag(incomplete[0]));
  const line: CommandLine = {
    words: words.join(" "),
    help: has("help"),
    json: has("json"),
    yes: has("yes"),
    print: has("print"),
    packageFlags: packageFlags(flags),
    ignored,
    ...command && { command },
    ...values.limit && { limit: parseLimit(values.limit) },
  };
  if (command !== undefined && !line.help) checkWords(command, line.words);
  return line;
}

/** Flags that an installed configuration repeats. */
const REPEATED = ["relayer", "web-url", "label", "namespace", "transport"];
const REPEATED_SWITCHES = ["prod", "dev", "staging", "local", "send-key", "no-browser"];

function packageFlags({ values, switches }: Flags): string[] {
  return [
    ...REPEATED_SWITCHES.filter((name) => switches.includes(name)).map((name) => `--${name}`),
    ...REPEATED.filter((name) => values[name]).map((name) => `--${name}=${values[name]}`),
  ];
}

function checkWords(command: CommandName, words: string): void {
  const wanted = COMMANDS[command].words;
  if (wanted === undefined && words !== "") throw usage(`${command} takes no words.`);
  if (wanted !== undefined && words.trim() === "") throw usage(`${command} needs a ${wanted}.`);
}
