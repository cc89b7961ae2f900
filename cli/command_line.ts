import { parseArgs } from "node:util";
import { parseBaseUrl } from "../src/client/mod.ts";
import { CommandError, EXIT, printable } from "./io.ts";
import { suggestion } from "./suggestion.ts";

/** Names of the commands. */
export type CommandName = "remember" | "recall" | "status" | "namespaces" | "list" | "forget";

/** A command's words and flags. */
interface Shape {
  /** What its words are called; none: it takes none. */
  readonly words?: string;
  /** Flags besides those every command has. */
  readonly flags: readonly string[];
}

/** The commands. */
export const COMMANDS: Readonly<Record<CommandName, Shape>> = {
  remember: { words: "text", flags: ["namespace", "ns"] },
  recall: { words: "query", flags: ["namespace", "ns", "limit"] },
  status: { flags: [] },
  namespaces: { flags: [] },
  list: { flags: ["namespace", "ns", "limit"] },
  forget: { words: "namespace", flags: ["yes"] },
};

const FLAGS = {
  relayer: { type: "string" },
  "relayer-url": { type: "string" },
  namespace: { type: "string" },
  ns: { type: "string" },
  limit: { type: "string" },
  yes: { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;
const EVERYWHERE = ["relayer", "relayer-url", "json", "help"];

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
  /** Relayer named by a flag, without a slash at its end. */
  readonly relayer?: string;
  /** Namespace named by a flag. */
  readonly namespace?: string;
  /** Limit named by a flag. */
  readonly limit?: number;
}

const usage = (message: string): CommandError => new CommandError(EXIT.usage, message);
const isCommand = (word: string): word is CommandName => Object.hasOwn(COMMANDS, word);

function checkFlags(args: string[], command: CommandName | undefined): void {
  const own = command === undefined ? [] : COMMANDS[command].flags;
  const { tokens } = parseArgs({ args, options: FLAGS, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const { name } = token;
    if (EVERYWHERE.includes(name) || own.includes(name)) continue;
    const flag = printable(token.rawName);
    if (!Object.hasOwn(FLAGS, name)) {
      const known = command === undefined ? Object.keys(FLAGS) : [...own, ...EVERYWHERE];
      throw usage(`Unknown flag ${flag}.${suggestion(flag, known.map((known) => `--${known}`))}`);
    }
    if (command !== undefined) throw usage(`${flag} is not a flag of ${command}.`);
  }
}

function parseLimit(raw: string): number {
  if (!/^\d{1,6}$/.test(raw) || Number(raw) < 1) throw usage("--limit must be a number from 1.");
  return Number(raw);
}

function parseRelayer(raw: string): string {
  const url = parseBaseUrl(raw);
  if (url === undefined) throw usage("--relayer must be an http or https address.");
  return url;
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
 * Reads a command line.
 *
 * @throws {CommandError} with the usage exit code.
 */
export function parseCommandLine(args: string[]): CommandLine {
  const { positionals: [first] } = parseArgs({
    args,
    options: FLAGS,
    strict: false,
    allowPositionals: true,
  });
  const command = first !== undefined && isCommand(first) ? first : undefined;
  checkFlags(args, command);
  if (first !== undefined && command === undefined) {
    const hint = suggestion(first, Object.keys(COMMANDS));
    throw usage(`Unknown command "${printable(first)}".${hint}`);
  }
  const { values, positionals } = parseValues(args);
  const line: CommandLine = {
    words: positionals.slice(1).join(" "),
    help: values.help ?? false,
    json: values.json ?? false,
    yes: values.yes ?? false,
    ...command && { command },
    ...optional("relayer", values.relayer ?? values["relayer-url"], parseRelayer),
    ...optional("namespace", values.namespace ?? values.ns, String),
    ...optional("limit", values.limit, parseLimit),
  };
  if (command !== undefined && !line.help) checkWords(command, line.words);
  return line;
}

function checkWords(command: CommandName, words: string): void {
  const wanted = COMMANDS[command].words;
  if (wanted === undefined && words !== "") throw usage(`${command} takes no words.`);
  if (wanted !== undefined && words.trim() === "") throw usage(`${command} needs a ${wanted}.`);
}

/** A member that is left out when its text is absent or empty. */
function optional<K extends string, T>(
  key: K,
  raw: string | undefined,
  parse: (raw: string) => T,
): { [P in K]?: T } {
  return raw === undefined || raw === "" ? {} : { [key]: parse(raw) } as { [P in K]: T };
}
