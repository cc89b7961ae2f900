import { SvcClient, SvcConnectionError, SvcError } from "../src/client/mod.ts";
import { readingAdviceText, unreadLanguagesWords } from "../src/client/text/unread_words.ts";
import { onOneLine } from "../src/printable.ts";
import { EXIT, type ExitCode, programOf } from "./io.ts";
import { clientOf, notSignedIn, print, type Session } from "./session.ts";

/** Longest wait for the relayer's health, in milliseconds. */
const HEALTH_MS = 10_000;

/** The relayer's health, or why it cannot be reached. */
function healthOf({ settings, io }: Session) {
  // The route is public, so that any key will do; one attempt, because somebody watches.
  const client = new SvcClient({
    baseUrl: settings.relayer,
    privateKey: "00".repeat(32),
    timeoutMs: HEALTH_MS,
    retry: { attempts: 1 },
    fetch: io.fetch,
  });
  return client.health().catch((error: unknown) => {
    if (error instanceof SvcConnectionError) return error;
    throw error;
  });
}

/** Whether the relayer accepts the key, in words and for machines, and what it says about it. */
async function askAccount(session: Session) {
  try {
    const { account_id, owner, key, active, unread_languages } = await clientOf(session).account();
    const status = { accepted: true, account_id, owner, key_label: key.label, unread_languages };
    return { verdict: active ? "active" : "deactivated", status };
  } catch (error) {
    if (!(error instanceof SvcError) || (error.status !== 401 && error.status !== 403)) throw error;
    const verdict = `rejected by this relayer (code: ${error.code})`;
    return { verdict, status: { accepted: false } };
  }
}

/** Who is signed in, in words and for machines. */
async function whoIs(session: Session, isReachable: boolean) {
  const { credentials } = session;
  if (credentials === undefined) {
    return { text: `${notSignedIn(session)}\n`, status: {}, accepted: false, unread: "" };
  }
  const asked = isReachable ? await askAccount(session) : { verdict: "not checked", status: {} };
  const status = {
    account_id: credentials.accountId,
    owner: credentials.walletAddress,
    key_label: credentials.label ?? "",
    public_key: credentials.delegatePublicKeyHex,
    ...asked.status,
  };
  const { account_id, owner, key_label, public_key } = status;
  const lines = [
    `Account:  ${account_id} (${asked.verdict})`,
    `Owner:    ${owner}`,
    `Key:      ${key_label || "(no label)"} (…${public_key.slice(-8)})`,
  ];
  const text = lines.map((line) => `${onOneLine(line)}\n`).join("");
  return { text, status, accepted: status.accepted, unread: unreadText(session, asked.status) };
}

/** Memories that are found by words only, and what to do about it where somebody can. */
function unreadText({ settings: { relayer } }: Session, asked: object): string {
  const words = unreadLanguagesWords(
    "unread_languages" in asked ? asked.unread_languages : undefined,
  );
  if (words === undefined) return "";
  const advice = readingAdviceText(relayer);
  return `Reading:  ${words}\n${advice === undefined ? "" : `          ${advice}\n`}`;
}

/** What somebody does next who is where this is. */
async function nextStep(
  session: Session,
  { isReachable, accepted }: { isReachable: boolean; accepted: boolean | undefined },
): Promise<string> {
  const program = programOf(session.io);
  if (!isReachable) {
    return program === "svc" ? "svc start --background" : "start the relayer";
  }
  if (accepted === false) return `${program} login`;
  // A key that may not read is told nothing, and can save.
  const total = await clientOf(session).namespaces({ limit: 1 })
    .then((page) => page.total, () => 0);
  if (total === 0) return `${program} remember "I am allergic to peanuts"`;
  return `${program} recall "what should I not eat?", or ${program} open for the dashboard`;
}

export async function showStatus(session: Session): Promise<ExitCode> {
  const { credentials, settings: { relayer } } = session;
  const answer = await healthOf(session);
  const health = answer instanceof SvcConnectionError ? undefined : answer;
  const who = await whoIs(session, health !== undefined);
  const status = {
    relayer,
    reachable: health !== undefined,
    relayer_status: health?.status,
    signed_in: credentials !== undefined,
    ...who.status,
  };
  const reachable = answer instanceof SvcConnectionError ? answer.reason : onOneLine(answer.status);
  const isReachable = health !== undefined;
  const next = session.line.json
    ? ""
    : await nextStep(session, { isReachable, accepted: who.accepted });
  const place = `Relayer:  ${relayer} (${reachable})\n`;
  print(session, status, `${who.text}${place}${who.unread}Next:     ${next}\n`);
  if (who.accepted === false) return EXIT.notSignedIn;
  return health === undefined ? EXIT.unreachable : EXIT.success;
}
