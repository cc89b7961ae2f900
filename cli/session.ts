import { COMMAND_FLAGS, type CommandLine } from "./command_line.ts";
import { credentialsPath, readCredentials } from "../src/client/credentials_file.ts";
import { type Credentials, SvcClient } from "../src/client/mod.ts";
import { redactedWords } from "../src/client/text/redacted_words.ts";
import { onOneLine } from "../src/printable.ts";
import { type CliIo, CommandError, EXIT, type ExitCode, programOf } from "./io.ts";
import { resolveSettings, type Settings, type SettingsInput } from "./settings.ts";

/** What a command runs with. */
export interface Session {
  /** What was asked for. */
  readonly line: CommandLine;
  /** Where it reads and writes. */
  readonly io: CliIo;
  /** Flags, environment and saved values. */
  readonly settings: Settings;
  /** The credentials file; absent when no home directory is known. */
  readonly path: string | undefined;
  /** The saved credentials; absent when there are none. */
  readonly credentials: Credentials | undefined;
  /** Why there are none. */
  readonly reason: string | undefined;
}

/** Runs one command; the exit code is that of a success where it answers none. */
export type Command = (session: Session) => Promise<ExitCode | void>;

/** Values a command cannot do without: when they are not valid, nothing is done. */
const isNeeded = (name: string): boolean =>
  name.startsWith("-") || name === "SVC_SERVER_URL" || name === "SVC_WEB_URL";

/** What the user should know about the addresses that a command uses. */
function noticesOf(input: SettingsInput, settings: Settings, { command }: CommandLine) {
  // Signing out uses none of them.
  if (command === "logout") return [];
  if (command !== "login" && command !== "install") return settings.notices;
  // These lead to another relayer than the saved one by intention.
  const { relayer, webUrl } = settings;
  return resolveSettings({ ...input, saved: { relayerUrl: relayer, webUrl } }).notices;
}

/**
 * Reads the credentials and says on standard error what the user should know about them and about
 * the settings.
 *
 * @param args What follows the program's name.
 * @throws {CommandError} with the usage exit code when an address is not valid, unless the command
 * signs out: a bad address must not keep the key on this computer.
 */
export async function openSession(
  line: CommandLine,
  args: readonly string[],
  io: CliIo,
): Promise<Session> {
  const path = credentialsPath(io.env);
  const { credentials, reason, warnings } = path === undefined
    ? { reason: "no home directory is known", warnings: [] }
    : await readCredentials(path);
  for (const warning of warnings) io.writeError(`Warning: ${onOneLine(warning)}.\n`);
  const input = { args, env: io.env, saved: credentials, further: COMMAND_FLAGS };
  const settings = resolveSettings(input);
  for (const { name, message } of settings.problems) {
    if (line.command !== "logout" && isNeeded(name)) throw new CommandError(EXIT.usage, message);
    io.writeError(`Warning: ${onOneLine(message)}\n`);
  }
  for (const notice of noticesOf(input, settings, line)) {
    io.writeError(`Note: ${onOneLine(notice)}\n`);
  }
  return { line, io, settings, path, credentials, reason };
}

/** Prints what a command found: as JSON for machines, else the text. */
export function print({ line, io }: Session, answer: object, text: string): void {
  io.write(line.json ? `${JSON.stringify(answer)}\n` : text);
}

/** Says what the relayer took out of a text, unless the answer for machines does. */
export function sayRedacted(
  { line, io }: Session,
  redacted: Parameters<typeof redactedWords>[0],
): void {
  const words = redactedWords(redacted);
  if (words !== undefined && !line.json) io.writeError(`${onOneLine(words)}\n`);
}

/** The message of a command that needs credentials and has none. */
export function notSignedIn({ reason, io }: Session): string {
  const why = reason === undefined || reason === "there is none" ? "" : ` (${reason})`;
  return `You are not signed in${onOneLine(why)}. Run: ${programOf(io)} login`;
}

/**
 * A client of the session's relayer.
 *
 * @param timeoutMs Longest wait for one answer, in milliseconds.
 * @throws {CommandError} without credentials.
 */
export function clientOf(session: Session, timeoutMs = 30_000): SvcClient {
  const { credentials, settings, io } = session;
  if (credentials === undefined) throw new CommandError(EXIT.notSignedIn, notSignedIn(session));
  return new SvcClient({
    baseUrl: settings.relayer,
    privateKey: credentials.delegatePrivateKey,
    accountId: credentials.accountId,
    isForeign: settings.isForeign,
    timeoutMs,
    retry: { attempts: 3 },
    fetch: io.fetch,
    sleep: io.sleep,
  });
}
