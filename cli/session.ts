import { credentialsPath, readCredentials } from "../src/client/credentials_file.ts";
import { type Credentials, isExposed, parseBaseUrl, SvcClient } from "../src/client/mod.ts";
import type { CommandLine } from "./command_line.ts";
import { type CliIo, CommandError, EXIT, printable } from "./io.ts";

/** Relayer when nothing names one. */
export const DEFAULT_RELAYER = "http://127.0.0.1:8000";

/** Who is signed in, and where requests go. */
export interface Session {
  /** Base address of the relayer. */
  readonly relayer: string;
  /** The saved credentials; absent when there are none. */
  readonly credentials: Credentials | undefined;
  /** Why there are none. */
  readonly reason: string | undefined;
}

/** The relayer: flag, `SVC_SERVER_URL`, saved value, default. */
function chooseRelayer(line: CommandLine, io: CliIo, saved: string | undefined): string {
  if (line.relayer !== undefined) return line.relayer;
  const named = io.env.SVC_SERVER_URL;
  if (!named) return saved ?? DEFAULT_RELAYER;
  const url = parseBaseUrl(named);
  if (url === undefined) {
    throw new CommandError(EXIT.usage, "SVC_SERVER_URL must be an http or https address.");
  }
  return url;
}

/** Reads the credentials and says on standard error what the user should know about them. */
export async function openSession(line: CommandLine, io: CliIo): Promise<Session> {
  const path = credentialsPath(io.env);
  const read = path === undefined
    ? { reason: "no home directory is known", warnings: [] }
    : await readCredentials(path);
  for (const warning of read.warnings) io.writeError(`Warning: ${warning}.\n`);
  const { credentials } = read;
  const saved = credentials && parseBaseUrl(credentials.relayerUrl);
  const relayer = chooseRelayer(line, io, saved);
  if (saved !== undefined && relayer !== saved) {
    io.writeError(
      `Note: using ${relayer}, not ${saved} where you signed in. Your key signs requests there.\n`,
    );
  }
  if (isExposed(relayer)) {
    io.writeError(`Warning: ${relayer} is plain http; others on the network can read along.\n`);
  }
  return { relayer, credentials, reason: read.reason };
}

/** The message of a command that needs credentials and has none. */
export function notSignedIn(reason: string | undefined): string {
  const why = reason === undefined || reason === "there is none" ? "" : ` (${reason})`;
  return `You are not signed in${printable(why)}. Run: svc-mcp login`;
}

/**
 * A client of the session's relayer.
 *
 * @throws {CommandError} without credentials.
 */
export function clientOf(session: Session, io: CliIo): SvcClient {
  const { credentials } = session;
  if (credentials === undefined) {
    throw new CommandError(EXIT.notSignedIn, notSignedIn(session.reason));
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
