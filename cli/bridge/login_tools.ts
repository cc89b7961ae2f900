import { within } from "../../src/deadline.ts";
import type { LoginOutcome, LoginRequests, LoginTarget, PendingLogin } from "../login/login.ts";
import type { Members } from "./json_rpc.ts";
import type { SavedCredentials } from "./saved_credentials.ts";
import { explain, failure, success } from "./tool_results.ts";

/** Longest wait for the listener of a login, in milliseconds. */
const LISTENER_MS = 5000;

interface LoginToolsOptions {
  /**
   * Makes the object that opens logins; called at the first one. Absent without a file to write.
   */
  readonly openLogins: (() => LoginRequests) | undefined;
  /** Where the next login leads. */
  readonly target: () => LoginTarget;
  /** Opens a browser, where that is wanted and possible; answers whether it was tried. */
  readonly openBrowser: (url: string) => boolean;
  readonly saved: SavedCredentials;
  readonly say: (level: "info" | "error", text: string) => void;
}

/** The tools that never reach the relayer: svc_login and svc_logout. */
export class LoginTools {
  readonly #options: LoginToolsOptions;
  #logins: LoginRequests | undefined;

  constructor(options: LoginToolsOptions) {
    this.#options = options;
  }

  /** Opens a login and answers its address; does not wait for approval. */
  async login(): Promise<Members> {
    const { openLogins, target, openBrowser, say } = this.#options;
    const { relayer } = target();
    let pending: PendingLogin;
    try {
      if (openLogins === undefined) {
        throw new Error("No home directory is known. Set SVC_CREDENTIALS_FILE");
      }
      this.#logins ??= openLogins();
      pending = await within(LISTENER_MS, this.#logins.start(target()), () => {
        throw new Error("The sign-in could not be started within 5 seconds");
      });
    } catch (error) {
      const { code } = explain(error, relayer);
      const message = error instanceof Error ? error.message : "The sign-in could not be started";
      return failure({ message, code });
    }
    void pending.outcome.then((outcome) => this.#settle(outcome));
    const opening = openBrowser(pending.url);
    say("info", `Open this address to sign in to svc: ${pending.url}`);
    return success(steps(pending, target(), opening), {
      login_url: pending.url,
      expires_at: pending.expiresAt.toISOString(),
    });
  }

  /** Handles the outcome of a login: new credentials are used at once. */
  async #settle(outcome: LoginOutcome): Promise<void> {
    const { saved, say } = this.#options;
    await saved.refresh();
    if (outcome.status === "signed-in") {
      const { problem } = outcome;
      if (problem === undefined) say("info", "You are signed in to svc.");
      else say("error", `You are signed in to svc, but ${problem}.`);
    } else if (outcome.status === "failed") {
      say("error", `The sign-in was approved, but failed: ${outcome.problem}.`);
    } else if (outcome.status === "expired") {
      say("info", "Nobody approved the sign-in to svc within 5 minutes; svc_login starts another.");
    }
  }

  async logout(): Promise<Members> {
    const { saved, target } = this.#options;
    const tail = saved.current?.delegatePublicKeyHex.slice(-8);
    try {
      const removed = await saved.remove();
      const what = removed
        ? "Signed out: the credentials file is deleted."
        : "Nobody was signed in.";
      const key = tail === undefined ? "" : ` (…${tail})`;
      const text = `${what} The on-chain key${key} is not revoked: remove it on the dashboard ` +
        "when it is not needed any more.";
      return success(text, { removed });
    } catch (error) {
      return failure(explain(error, target().relayer));
    }
  }

  async close(): Promise<void> {
    await this.#logins?.[Symbol.asyncDispose]();
  }
}

function steps(pending: PendingLogin, target: LoginTarget, opening: boolean): string {
  const { url, keySuffix } = pending;
  return [
    url,
    "",
    "To sign in:",
    `1. ${opening ? "A browser opens; if not, open" : "Open"} this address: ${url}`,
    `2. Check that the page shows the relayer ${target.relayer} and the key ` +
    `"${target.label}" that ends in ${keySuffix}.`,
    "3. Approve with your wallet.",
    "",
    "The address works once, within 5 minutes. Afterwards the memory tools work at once.",
  ].join("\n");
}
