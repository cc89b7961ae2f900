import { onOneLine } from "../src/printable.ts";
import { CommandError, EXIT, suggestion } from "./io.ts";
import { FLAG_NAMES, type FlagKind, type Flags, incompleteFlag, readFlags } from "./flags.ts";

/** A command's words and flags. */
interface Shape {
  /** What its words are called; none: it takes none. */
  readonly words?: string;
  /** Whether the words may be missing. */
  readonly optional?: true;
  /** Flags besides those every command has. */
  readonly flags: readonly string[];
  /** Whether it writes, deletes or vouches: a flag that was to hold it back must not be ignored. */
  readonly strict?: true;
}

/** Flags about what opens a bundle, and whose it must be. */
const OPENING = ["passphrase-file", "identity", "key"];

const SHAPES = {
  login: { flags: [] },
  logout: { flags: [] },
  status: { flags: [] },
  open: { flags: [] },
  try: { flags: [] },
  remember: { words: "text", flags: ["redact"], strict: true },
  recall: { words: "query", flags: ["limit", "all"] },
  ask: { words: "question", flags: ["limit"] },
  eval: { flags: ["questions"] },
  analyze: { words: "text", flags: [], strict: true },
  namespaces: { flags: [] },
  list: { flags: ["limit"] },
  get: { words: "id", flags: ["version"] },
  history: { words: "id", flags: ["limit"] },
  edit: {
    words: "id",
    flags: ["expect", "importance", "undo", "from", "redact"],
    strict: true,
  },
  forget: { words: "id", optional: true, flags: ["yes", "receipt"], strict: true },
  receipt: { words: "id", flags: ["output", "key"], strict: true },
  export: {
    words: "file",
    optional: true,
    flags: ["output", "markdown", "bundle", "recipient", "history", ...OPENING],
    strict: true,
  },
  import: {
    words: "file",
    flags: ["from", "preview", "bring-back", "redact", "yes", ...OPENING],
    strict: true,
  },
  review: { words: "word", optional: true, flags: ["limit"], strict: true },
  restore: { flags: ["limit"], strict: true },
  activity: { flags: ["limit", "key"] },
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
  questions: "text",
  all: "switch",
  yes: "switch",
  print: "switch",
  version: "text",
  expect: "text",
  importance: "text",
  undo: "switch",
  from: "text",
  receipt: "text",
  output: "text",
  key: "text",
  markdown: "text",
  bundle: "text",
  history: "switch",
  recipient: "list",
  "passphrase-file": "text",
  identity: "text",
  preview: "switch",
  "bring-back": "switch",
  redact: "switch",
} as const;

type Named<K extends FlagKind> = {
  [N in keyof typeof COMMAND_FLAGS]: typeof COMMAND_FLAGS[N] extends K ? N : never;
}[keyof typeof COMMAND_FLAGS];

/**
 * A flag of a command that takes a text.
 *
 * @internal
 */
export type TextFlag = Named<"text">;

/**
 * A flag of a command that takes a text each time it is given.
 *
 * @internal
 */
export type ListFlag = Named<"list">;

/** A command line, read. */
export interface CommandLine {
  /** The command; absent when only help is wanted or nothing was said. */
  readonly command?: CommandName;
  /** The words after it, joined with a space. */
  readonly words: string;
  /** The same, one by one. */
  readonly args: readonly string[];
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
  /** Namespace named by the flag, and not by a variable. */
  readonly namespace?: string;
  /** Flags of the command that have a text, as they were given. */
  readonly texts: Readonly<Partial<Record<TextFlag, string>>>;
  /** Flags of the command that may be repeated, with all their texts. */
  readonly lists: Readonly<Partial<Record<ListFlag, readonly string[]>>>;
  /** Switches that are set. */
  readonly switches: readonly string[];
  /** Flags of the package itself as they were given, for a configuration that repeats them. */
  readonly packageFlags: readonly string[];
  /** What to say about flags that nobody knows and that are ignored, one line each. */
  readonly ignored: readonly string[];
}

const usage = (message: string): CommandError => new CommandError(EXIT.usage, message);
export const isCommand = (word: string): word is CommandName => Object.hasOwn(COMMANDS, word);

const isStrict = (command: CommandName): boolean => COMMANDS[command].strict === true;

function ignoredFlags(unknown: readonly string[], command: CommandName | undefined): string[] {
  const own = command === undefined ? Object.keys(COMMAND_FLAGS) : COMMANDS[command].flags;
  const known = [...own, "json", ...FLAG_NAMES].map((name) => `--${name}`);
  return unknown.map(onOneLine).map((flag) => {
    const hint = suggestion(flag, known);
    if (command !== undefined && isStrict(command)) {
      const kept = command === "forget" ? "nothing is deleted" : "nothing was done";
      throw usage(`Unknown flag ${flag}: ${kept}.${hint}`);
    }
    return `The flag ${flag} is unknown and ignored.${hint}`;
  });
}

/** Refuses flags of other commands. */
function checkFlags(flags: Flags, command: CommandName): void {
  const { values, lists, switches, incomplete } = flags;
  const named = [...Object.keys(values), ...Object.keys(lists), ...switches];
  const given = [...named, ...incomplete.map((name) => name.slice(2))];
  for (const name of Object.keys(COMMAND_FLAGS)) {
    if (name === "json" || COMMANDS[command].flags.includes(name) || !given.includes(name)) {
      continue;
    }
    throw usage(`--${name} is not a flag of ${command}.`);
  }
}

/** What a command asks for about secrets: nothing, or that they are replaced. */
export function secretsOf({ switches }: CommandLine): { readonly secrets?: "redact" } {
  return switches.includes("redact") ? { secrets: "redact" } : {};
}

/** A number of a flag, 1 to 999,999. */
function parseNumber(flag: string, raw: string): number {
  if (!/^\d{1,6}$/.test(raw) || Number(raw) < 1) throw usage(`--${flag} must be a number from 1.`);
  return Number(raw);
}

/**
 * The number of a flag; `undefined` where it is not given.
 *
 * @throws {CommandError} with the usage exit code, when it is no number from 1.
 */
export function numberOf({ texts }: CommandLine, flag: TextFlag): number | undefined {
  const raw = texts[flag];
  return raw === undefined ? undefined : parseNumber(flag, raw);
}

/**
 * Reads a command line, but for the flags that `resolveSettings` reads. An unknown flag is ignored
 * (docs/protocol.md#13.1), except by commands that change something; like there, it takes no value.
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
    args: words,
    help: has("help"),
    json: has("json"),
    yes: has("yes"),
    print: has("print"),
    packageFlags: packageFlags(flags),
    ignored,
    texts: textsOf(values),
    lists: flags.lists,
    switches: flags.switches,
    ...command && { command },
    ...values.limit && { limit: parseNumber("limit", values.limit) },
    ...values.namespace !== undefined && { namespace: values.namespace },
  };
  if (command !== undefined && !line.help) checkWords(command, line.words);
  return line;
}

/** Flags of commands that take a text. */
const TEXT_FLAGS = (Object.keys(COMMAND_FLAGS) as (keyof typeof COMMAND_FLAGS)[])
  .filter((name): name is TextFlag => COMMAND_FLAGS[name] === "text");

function textsOf(values: Flags["values"]): CommandLine["texts"] {
  const given = TEXT_FLAGS.filter((name) => values[name] !== undefined);
  const empty = given.find((name) => values[name] === "");
  if (empty !== undefined) throw usage(incompleteFlag(`--${empty}`));
  return Object.fromEntries(given.map((name) => [name, values[name]]));
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
  const { words: wanted, optional } = COMMANDS[command];
  if (wanted === undefined && words !== "") throw usage(`${command} takes no words.`);
  if (wanted === undefined || optional || words.trim() !== "") return;
  throw usage(`${command} needs ${/^[aeiou]/.test(wanted) ? "an" : "a"} ${wanted}.`);
}
