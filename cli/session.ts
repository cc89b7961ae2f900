import { COMMAND_FLAGS } from "./command_line.ts";
import { credentialsPath, readCredentials } from "../src/client/credentials_file.ts";
import { type Credentials, SvcClient } from "../src/client/mod.ts";
import { type CliIo, CommandError, EXIT, printable, programOf } from "./io.ts";
import { resolveSettings, type Settings } from "./settings.ts";

/** Who is signed in, and what the command runs with. */
export interface Session {
  /** What follows the program's name. */
  readonly args: readonly string[];
  /** Flags, environment and saved values. */
  readonly settings: Settings;
  /** Base address of the relayer. */
  readonly relayer: string;
  /** The credentials file; absent when no home directory is known. */
  readonly path: string | undefined;
  /** The saved credentials; absent when there are none. */
  readonly credentials: Credentials | undefined;
  /** Why there are none. */
  readonly reason: string | undefined;
}

/** Values a command cannot do without: when they are not valid, nothing is done. */
const isNeeded = (name: string): boolean =>
  name.startsWith("-") || name === "SVC_SERVER_URL" || name === "SVC_WEB_URL";

function settingsOf(
  args: readonly string[],
  io: CliIo,
  saved: Credentials | undefined,
  strict: boolean,
): Settings {
  const settings = resolveSettings({ args, env: io.env, saved, further: COMMAND_FLAGS });
  for (const { name, message } of settings.problems) {
    if (strict && isNeeded(name)) throw new CommandError(EXIT.usage, message);
    io.writeError(`Warning: ${message}\n`);
  }
  return settings;
}

/**
 * Reads the credentials and says on standard error what the user should know about them.
 *
 * @param args What follows the program's name.
 * @param strict Whether an address that is not valid ends the command; default `true`.
 * @throws {CommandError} with the usage exit code when an address is not valid.
 */
export async function openSession(
  args: readonly string[],
  io: CliIo,
  strict = true,
): Promise<Session> {
  const path = credentialsPath(io.env);
  const read = path === undefined
    ? { reason: "no home directory is known", warnings: [] }
    : await readCredentials(path);
  for (const warning of read.warnings) io.writeError(`Warning: ${warning}.\n`);
  const { credentials, reason } = read;
  const settings = settingsOf(args, io, credentials, strict);
  return { args, settings, relayer: settings.relayer, path, credentials, reason };
}

/** Says what the user should know about the addresses in use. */
export function announce({ settings }: Session, io: CliIo): void {
  for (const notice of settings.notices) io.writeError(`Note: ${notice}\n`);
}

/** The same for a login, which leads to another relayer than the saved one by intention. */
export function announceTarget({ args, settings }: Session, io: CliIo): void {
  const saved = { relayerUrl: settings.relayer, webUrl: settings.webUrl };
  const { notices } = resolveSettings({ args, env: io.env, saved, further: COMMAND_FLAGS });
  for (const notice of notices) io.writeError(`Note: ${notice}\n`);
}

/** The message of a command that needs credentials and has none. */
export function notSignedIn(reason: string | undefined, io: CliIo): string {
  const why = reason === undefined || reason === "there is none" ? "" : ` (${reason})`;
  return `You are not signed in${printable(why)}. Run: ${programOf(io)} login`;
}

/**
 * A client of the session's relayer.
 *
 * @throws {CommandError} without credentials.
 */
export function clientOf(session: Session, io: CliIo): SvcClient {
  const { credentials } = session;
  if (credentials === undefined) {
    throw new CommandError(EXIT.notSignedIn, notSignedIn(session.reason, io));
  }
  return new SvcClient({
    baseUrl: session.relayer,
    privateKey: credentials.delegatePrivateKey,
    accountId: credentials.accountId,
    timeoutMs: 30_000,
    retry: { attempts: 3 },
    ...(io.fetch ? { fetch: io.fetch } : {}),
    ...(io.sleep ? { sleep: io.sleep } : {}),
  });
}
