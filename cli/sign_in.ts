import { deleteCredentials } from "../src/client/credentials_file.ts";
import type { Credentials } from "../src/client/mod.ts";
import { onOneLine } from "../src/printable.ts";
import { CommandError, EXIT, programOf } from "./io.ts";
import {
  type LoginOutcome,
  type LoginTarget,
  openBrowser,
  openLoginRequests,
  type PendingLogin,
} from "./login/mod.ts";
import { print, type Session } from "./session.ts";
import { DEFAULT_LABEL } from "./settings.ts";

function pathOf({ path }: Session): string {
  if (path !== undefined) return path;
  const message = "No home directory is known. Say where with SVC_CREDENTIALS_FILE.";
  throw new CommandError(EXIT.error, message);
}

function showAddress(pending: PendingLogin, target: LoginTarget, session: Session): void {
  const { io, settings } = session;
  const isOpening = settings.browser &&
    (io.openBrowser ?? ((url) => openBrowser(url, { env: io.env })))(pending.url);
  io.writeError(
    `${isOpening ? "Your browser opens this address" : "Open this address"} to sign in:\n\n` +
      `  ${pending.url}\n\n` +
      "Approve only if the page shows the same:\n" +
      `  Key:      ${onOneLine(target.label)} (ends in ${pending.keySuffix})\n` +
      `  Relayer:  ${target.relayer}\n\n` +
      "The address works once, within 5 minutes. Waiting for your approval …\n",
  );
}

function refusalOf(
  outcome: Exclude<LoginOutcome, { status: "signed-in" }>,
  { io }: Session,
): string {
  if (outcome.status === "failed") return `Signing in failed: ${outcome.problem}.`;
  if (outcome.status === "expired") {
    return `Nobody approved within 5 minutes. Try again: ${programOf(io)} login`;
  }
  return "The sign-in was closed before anybody approved.";
}

/** Opens a login, shows its address and waits until it has an outcome. */
async function waitForApproval(session: Session): Promise<[PendingLogin, LoginOutcome]> {
  const { io, settings: { relayer, webUrl, label = DEFAULT_LABEL } } = session;
  // No `await using`: Node 20, where the bundle runs too, does not know it.
  const { fetch, sleep } = io;
  const logins = openLoginRequests({ credentialsPath: pathOf(session), fetch, sleep });
  try {
    const target = { relayer, webUrl, label };
    const pending = await logins.start(target);
    showAddress(pending, target, session);
    return [pending, await pending.outcome];
  } finally {
    await logins[Symbol.asyncDispose]();
  }
}

/** Signs in: prints the address on standard error and waits until somebody approves. */
export async function login(session: Session): Promise<void> {
  const path = pathOf(session);
  const [{ keySuffix }, outcome] = await waitForApproval(session);
  if (outcome.status !== "signed-in") {
    throw new CommandError(EXIT.error, refusalOf(outcome, session));
  }
  const { relayer } = session.settings;
  const { accountId, problem } = outcome;
  if (problem !== undefined) {
    session.io.writeError(`Warning: signed in, but ${onOneLine(problem)}.\n`);
  }
  const answer = {
    account_id: accountId,
    relayer,
    key_suffix: keySuffix,
    credentials_file: path,
    ...(problem === undefined ? {} : { problem }),
  };
  const where = `Signed in to account ${accountId} at ${relayer}.\nThe key is in ${path}.\n`;
  print(session, answer, where);
}

/** Deletes the credentials file; what the account lists stays as it is. */
export async function logout(session: Session): Promise<void> {
  const removed = await deleteCredentials(pathOf(session));
  const { credentials } = session;
  const done = removed ? "Signed out.\n" : "You are not signed in.\n";
  print(session, { removed }, credentials === undefined ? done : done + keyNote(credentials));
}

function keyNote({ delegatePublicKeyHex, webUrl }: Credentials): string {
  const tail = delegatePublicKeyHex.slice(-8);
  const where = webUrl === undefined ? "" : ` (${onOneLine(webUrl)})`;
  return `The account still lists the key …${tail}: remove it on the dashboard${where} when you ` +
    "no longer need it.\n";
}
