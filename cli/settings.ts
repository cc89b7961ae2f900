import { isExposed, parseBaseUrl } from "../src/client/options.ts";
import { LABEL_BYTES } from "../src/wire/limits.ts";
import { isCommand } from "./command_line.ts";

import { type FlagKind, type Flags, incompleteFlag, readFlags } from "./flags.ts";

/** A relayer and the dashboard that belongs to it; base addresses without a trailing slash. */
interface Addresses {
  readonly relayer: string;
  readonly webUrl: string;
}

/**
 * Addresses of the presets. Those of a hosted service are fixed when the package is built; a build
 * without them leaves them out.
 */
const PRESETS: {
  readonly local: Addresses;
  readonly [hosted: string]: Addresses | undefined;
} = {
  local: { relayer: "http://127.0.0.1:8000", webUrl: "http://localhost:5173" },
  prod: undefined,
  dev: undefined,
  staging: undefined,
};

/** Name of a key when neither the user nor the host gives it one. */
export const DEFAULT_LABEL = "MCP Client";

/** How the relayer is reached. */
export type TransportChoice = "auto" | "http" | "sse";

/** Where settings come from. */
export interface SettingsInput {
  /** What follows the program's name. */
  readonly args: readonly string[];
  /** The environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The saved credentials, as far as they name addresses. */
  readonly saved?: { readonly relayerUrl: string; readonly webUrl?: string } | undefined;
  /** Flags of terminal commands, so that they are known and their values are no words. */
  readonly further?: Readonly<Record<string, FlagKind>>;
}

/** A value that breaks its rule and is therefore not used. */
export interface SettingsProblem {
  /** Flag or variable, such as `--relayer` or `SVC_SERVER_URL`. */
  readonly name: string;
  /** What is wrong with it, for people; it does not quote the value. */
  readonly message: string;
}

/** Settings of the stdio package (docs/protocol.md#13.1), with nothing left open. */
export interface Settings {
  /** Base address of the relayer, no trailing slash. */
  readonly relayer: string;
  /** Base address of the dashboard, no trailing slash. */
  readonly webUrl: string;
  /** Name of the next delegate key; absent: the host's name. */
  readonly label?: string;
  /** Namespace of calls that name none. */
  readonly namespace?: string;
  /** How the relayer is reached. */
  readonly transport: TransportChoice;
  /** Whether the relayer is not the one of the credentials, and may not have their key. */
  readonly isForeign: boolean;
  /** Whether the relayer may have the key: it is that one, and reached safely, or the user says so. */
  readonly mayHaveKey: boolean;
  /** Whether a browser may be opened. */
  readonly browser: boolean;
  /** Whether verbose logging is wanted (`SVC_MCP_DEBUG=1`). */
  readonly debug: boolean;
  /** `--help` or `-h`. */
  readonly help: boolean;
  /** `--login`, or the subcommand. */
  readonly login: boolean;
  /** `--logout`, or the subcommand. */
  readonly logout: boolean;
  /** The first word: a terminal command, known or not. */
  readonly command?: string;
  /** The words after it. */
  readonly words: readonly string[];
  /** What the user should know: another relayer than the saved one, plain http, and the like. */
  readonly notices: readonly string[];
  /** Flags nobody knows, as they were written, without their values. */
  readonly unknownFlags: readonly string[];
  /** Values that were not used. */
  readonly problems: readonly SettingsProblem[];
}

/** A value, after the flag or variable it comes from. */
type Given = readonly [name: string, value: string | undefined];

const isTransport = (text: string): text is TransportChoice => /^(auto|http|sse)$/.test(text);

/** Names of keys are at most 64 bytes; a longer one is cut between characters. */
export function cutLabel(text: string): string {
  const label = text.replace(/(?!\s)\p{Cc}/gu, "").replace(/\s+/g, " ").trim();
  const { read } = new TextEncoder().encodeInto(label, new Uint8Array(LABEL_BYTES));
  return label.slice(0, read).trim();
}

/** The first of the values that is there and valid; those before it that are not are problems. */
function firstValid<T>(
  given: readonly Given[],
  parse: (text: string) => T | undefined,
  message: string,
  problems: SettingsProblem[],
): T | undefined {
  for (const [name, value] of given) {
    if (value === undefined || value === "") continue;
    const parsed = parse(value);
    if (parsed !== undefined) return parsed;
    problems.push({ name, message: `${name} ${message}` });
  }
  return undefined;
}

/** Both addresses of the preset that was named last, and what to say about it. */
function chosenPreset(switches: readonly string[], notices: string[]): Addresses | undefined {
  const named = switches.filter((name) => Object.hasOwn(PRESETS, name));
  const name = named.at(-1);
  if (name === undefined) return undefined;
  if (new Set(named).size > 1) notices.push(`Several presets are named; --${name} counts.`);
  const hosted = PRESETS[name];
  if (hosted !== undefined) return hosted;
  notices.push(`This build knows no hosted service; --${name} stands for --local.`);
  return PRESETS.local;
}

/** Whether a relayer is another one than that of the credentials, whatever its path. */
function isOther(relayer: string, saved: string | undefined): boolean {
  return saved !== undefined && new URL(relayer).origin !== new URL(saved).origin;
}

function addressNotices(
  { relayer, webUrl }: Addresses,
  saved: string | undefined,
  isForeign: boolean,
): string[] {
  const notices: string[] = [];
  if (saved !== undefined && relayer !== saved) {
    const key = isForeign
      ? "your key stays here"
      : isOther(relayer, saved)
      ? "it may have your key"
      : "it is the same host";
    notices.push(
      `Using ${relayer}, not ${saved} where you signed in, in this process only: ${key}.`,
    );
  }
  for (const [what, url] of [["relayer", relayer], ["dashboard", webUrl]] as const) {
    if (isExposed(url)) {
      notices.push(`The ${what} ${url} is plain http: others on the network can read along.`);
    }
  }
  return notices;
}

/**
 * The words from the command on. What follows an unknown flag is its value unless it names a
 * command: a host whose configuration has such a flag is still served.
 */
function commandWords({ words, doubtful }: Flags): readonly string[] {
  const start = words.findIndex((word, at) => !doubtful.has(at) || isCommand(word));
  return start < 0 ? [] : words.slice(start);
}

/**
 * Resolves the settings. Flags beat the environment; addresses come from the explicit flag, the
 * preset, the environment, the saved credentials, the default, in this order. Nothing throws: a
 * value that breaks its rule is named in `problems` and the next in order is used.
 */
export function resolveSettings(input: SettingsInput): Settings {
  const { args, env, saved } = input;
  const flags = readFlags(args, input.further);
  const problems: SettingsProblem[] = flags.incomplete.map((name) => ({
    name,
    message: incompleteFlag(name),
  }));
  const notices: string[] = [];
  const preset = chosenPreset(flags.switches, notices);
  const fallback = PRESETS.prod ?? PRESETS.local;
  const both = (flag: string, variable: string): [flag: Given, variable: Given] => [
    [`--${flag}`, flags.values[flag]],
    [variable, env[variable]],
  ];
  const address = (flag: string, variable: string, key: keyof Addresses, known?: string) => {
    const [explicit, environment] = both(flag, variable);
    const chosen: Given = ["preset", preset?.[key]];
    const order = [explicit, chosen, environment, ["saved address", known] as const];
    const must = "must be an http or https address.";
    return firstValid(order, parseBaseUrl, must, problems) ?? fallback[key];
  };
  const relayer = address("relayer", "SVC_SERVER_URL", "relayer", saved?.relayerUrl);
  const webUrl = address("web-url", "SVC_WEB_URL", "webUrl", saved?.webUrl);
  const transport = firstValid(
    both("transport", "SVC_MCP_TRANSPORT"),
    (text) => isTransport(text) ? text : undefined,
    "must be auto, http or sse.",
    problems,
  );
  const text = (flag: string, variable: string): string | undefined =>
    flags.values[flag] || env[variable] || undefined;
  const label = cutLabel(text("label", "SVC_CLIENT_LABEL") ?? "");
  const namespace = text("namespace", "SVC_NAMESPACE");
  const [command, ...words] = commandWords(flags);
  const has = (name: string): boolean => flags.switches.includes(name);
  const known = saved && parseBaseUrl(saved.relayerUrl);
  const isForeign = isOther(relayer, known) && !has("send-key");
  const mayHaveKey = has("send-key") || !isForeign && !isExposed(relayer);
  notices.push(...addressNotices({ relayer, webUrl }, known, isForeign));
  return {
    relayer,
    webUrl,
    ...(label === "" ? {} : { label }),
    ...(namespace === undefined ? {} : { namespace }),
    transport: transport ?? "auto",
    isForeign,
    mayHaveKey,
    browser: !has("no-browser") && env.SVC_NO_BROWSER !== "1",
    debug: env.SVC_MCP_DEBUG === "1",
    help: has("help"),
    login: has("login") || command === "login",
    logout: has("logout") || command === "logout",
    ...(command === undefined ? {} : { command }),
    words,
    notices,
    unknownFlags: flags.unknown,
    problems,
  };
}
