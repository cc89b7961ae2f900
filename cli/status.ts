import { type AnswerOf, SvcClient, SvcConnectionError, SvcError } from "../src/client/mod.ts";
import { EXIT, type ExitCode, printable } from "./io.ts";
import { clientOf, notSignedIn, print, type Session } from "./session.ts";

/** Longest wait for the relayer's health, in milliseconds. */
const HEALTH_MS = 10_000;

interface Status {
  relayer: string;
  reachable: boolean;
  relayer_status?: string;
  signed_in: boolean;
  accepted?: boolean;
  account_id?: string;
  owner?: string;
  key_label?: string;
  public_key?: string;
}

/** The relayer's health, or why it cannot be reached. */
async function healthOf(
  { settings, io }: Session,
): Promise<AnswerOf<"GET /health"> | SvcConnectionError> {
  // The route is public, so that any key will do; one attempt, because somebody watches.
  const client = new SvcClient({
    baseUrl: settings.relayer,
    privateKey: "00".repeat(32),
    timeoutMs: HEALTH_MS,
    retry: { attempts: 1 },
    fetch: io.fetch,
  });
  try {
    return await client.health();
  } catch (error) {
    if (error instanceof SvcConnectionError) return error;
    throw error;
  }
}

/** Whether the relayer accepts the key; fills in what it says about it. */
async function askAccount(status: Status, session: Session): Promise<string> {
  try {
    const account = await clientOf(session).account();
    Object.assign(status, {
      accepted: true,
      account_id: account.account_id,
      owner: account.owner,
      key_label: account.key.label,
    });
    return account.active ? "active" : "deactivated";
  } catch (error) {
    if (!(error instanceof SvcError) || (error.status !== 401 && error.status !== 403)) throw error;
    status.accepted = false;
    return `rejected by this relayer (code: ${error.code})`;
  }
}

/** The lines about who is signed in. */
function accountLines(status: Status, verdict: string): string {
  return `Account:  ${status.account_id} (${verdict})\n` +
    `Owner:    ${status.owner}\n` +
    `Key:      ${printable(status.key_label || "(no label)")} (…${status.public_key?.slice(-8)})\n`;
}

export async function showStatus(session: Session): Promise<ExitCode> {
  const { credentials, settings: { relayer } } = session;
  const answer = await healthOf(session);
  const health = answer instanceof SvcConnectionError ? undefined : answer;
  const status: Status = {
    relayer,
    reachable: health !== undefined,
    ...(health === undefined ? {} : { relayer_status: health.status }),
    signed_in: credentials !== undefined,
    ...(credentials === undefined ? {} : {
      account_id: credentials.accountId,
      owner: credentials.walletAddress,
      key_label: credentials.label ?? "",
      public_key: credentials.delegatePublicKeyHex,
    }),
  };
  const verdict = credentials && health ? await askAccount(status, session) : "not checked";
  const who = credentials ? accountLines(status, verdict) : `${notSignedIn(session)}\n`;
  const reachable = answer instanceof SvcConnectionError ? answer.reason : printable(answer.status);
  print(session, status, `${who}Relayer:  ${relayer} (${reachable})\n`);
  if (credentials === undefined || status.accepted === false) return EXIT.notSignedIn;
  return health === undefined ? EXIT.unreachable : EXIT.success;
}
