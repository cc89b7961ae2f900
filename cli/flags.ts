/** Whether a flag takes a text, one each time it is given, or none. */
export type FlagKind = "text" | "list" | "switch";

/** Flags of the package, whether it serves a host or runs a command. */
const FLAGS: Readonly<Record<string, FlagKind>> = {
  relayer: "text",
  "web-url": "text",
  label: "text",
  namespace: "text",
  transport: "text",
  prod: "switch",
  dev: "switch",
  staging: "switch",
  local: "switch",
  "send-key": "switch",
  "no-browser": "switch",
  login: "switch",
  logout: "switch",
  help: "switch",
};

const ALIASES: Readonly<Record<string, string>> = {
  "relayer-url": "relayer",
  web: "web-url",
  ns: "namespace",
  h: "help",
};

/** Every flag of the package as it may be written behind two dashes. */
export const FLAG_NAMES: readonly string[] = [...Object.keys(FLAGS), ...Object.keys(ALIASES)]
  .filter((name) => name.length > 1);

/** A command line, taken apart. */
export interface Flags {
  /** Texts by flag, aliases resolved; the last one counts. */
  readonly values: Readonly<Record<string, string>>;
  /** All texts of flags that may be repeated. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
  /** Switches that are set, in their order. */
  readonly switches: readonly string[];
  /** What is no flag and no value. */
  readonly words: readonly string[];
  /** Places of words that stand right after an unknown flag, and may be its value. */
  readonly doubtful: ReadonlySet<number>;
  /** Flags that are not known, as written, without values. */
  readonly unknown: readonly string[];
  /** Flags without a value they need, or with one they do not take, as written. */
  readonly incomplete: readonly string[];
}

/** What is wrong with one of {@linkcode Flags.incomplete}. */
export function incompleteFlag(name: string): string {
  return `${name} has no value, or one it does not take.`;
}

const isFlag = (arg: string): boolean => arg.startsWith("-") && arg !== "-";

/**
 * Takes a command line apart: `--flag value`, `--flag=value`, `-h`. What follows `--` are words. An
 * unknown flag takes no value, because whether it has one is not known either.
 *
 * @param further Flags besides those of the package.
 */
export function readFlags(
  args: readonly string[],
  further: Readonly<Record<string, FlagKind>> = {},
): Flags {
  const kinds = { ...FLAGS, ...further };
  const values: Record<string, string> = {};
  const lists: Record<string, string[]> = {};
  const take = (name: string, kind: FlagKind, text: string): void => {
    if (kind === "list") (lists[name] ??= []).push(text);
    else values[name] = text;
  };
  const switches: string[] = [];
  const words: string[] = [];
  const unknown: string[] = [];
  const doubtful = new Set<number>();
  const incomplete: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (arg === "--") {
      words.push(...args.slice(at + 1));
      break;
    }
    if (!isFlag(arg)) {
      words.push(arg);
      continue;
    }
    const [, written = "", inline] = /^([^=]*)(?:=(.*))?$/s.exec(arg)!;
    const given = written.replace(/^--?/, "");
    const name = Object.hasOwn(ALIASES, given) ? ALIASES[given]! : given;
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    // One dash goes with one letter only.
    if (kind === undefined || written.startsWith("--") === (given.length === 1)) {
      unknown.push(written);
      const next = args[at + 1];
      if (inline === undefined && next !== undefined && !isFlag(next)) doubtful.add(words.length);
    } else if (kind === "switch") {
      if (inline === undefined) switches.push(name);
      else incomplete.push(written);
    } else if (inline !== undefined) take(name, kind, inline);
    else if (at + 1 < args.length && !isFlag(args[at + 1]!)) take(name, kind, args[++at]!);
    else incomplete.push(written);
  }
  return { values, lists, switches, words, doubtful, unknown, incomplete };
}
