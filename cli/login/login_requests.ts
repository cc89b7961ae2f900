import type { Server } from "node:http";
import { writeCredentials } from "../../src/client/credentials_file.ts";
import { type Credentials, type DelegateKeyPair, makeDelegateKey } from "../../src/client/mod.ts";
import { credentialsOf } from "../../src/client/credentials.ts";
import { keyProof } from "../../src/client/key_proof.ts";
import { SvcError } from "../../src/errors.ts";
import { LOGIN_URL_SECONDS } from "../../src/wire/limits.ts";
import { type Approval, parseApproval, parseProofRequest } from "./approval.ts";
import { checkKey, type KeyCheckOptions } from "./check_key.ts";
import { openListener } from "./listener.ts";
import type { LoginOutcome, LoginRequests, LoginTarget, PendingLogin } from "./login.ts";
import { gone, Refusal } from "./request_checks.ts";

/** How long an address works, in milliseconds. */
const LOGIN_MS = LOGIN_URL_SECONDS * 1000;
/** How long a listener stays open after that, to tell latecomers, in milliseconds. */
const LATE_MS = 60_000;
/** Most logins that are open at a time. */
const MOST_OPEN = 3;

/** The page that ends a login in the browser. */
const CONNECTED_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Connected</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { display: grid; min-height: 90vh; place-content: center; text-align: center; }
</style>
</head>
<body>
<h1>Connected</h1>
<p>Your key is saved on this computer. You can close this page.</p>
</body>
</html>
`;

const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
};

/**
 * The address that the user opens. It holds nothing secret: whoever reads it can neither sign nor
 * answer from the dashboard's origin.
 *
 * @param port Port of the listener.
 * @param state 64 lower-case hex characters.
 */
function loginUrl(
  target: LoginTarget,
  pair: DelegateKeyPair,
  port: number,
  state: string,
): string {
  const query = {
    port: String(port),
    publicKey: pair.publicKey,
    delegateAddress: pair.address,
    label: target.label,
    relayer: target.relayer,
    state,
  };
  const values = Object.entries(query).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return `${target.webUrl}/connect/mcp?${values.join("&")}`;
}

export interface LoginRequestsOptions extends KeyCheckOptions {
  /** The credentials file that a login writes. */
  readonly credentialsPath: string;
  /** Current time in milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
  /** Starts listening and answers the port; default: a random port of 127.0.0.1. */
  readonly listen?: (server: Server) => Promise<number>;
}

interface OpenLogin {
  /** Settles the outcome, unless it is settled. */
  end(outcome: LoginOutcome): void;
  /** Ends the listener and its timers. */
  close(): void;
}

class OpenLogins implements LoginRequests {
  readonly #options: LoginRequestsOptions;
  /** Logins that may still succeed, oldest first. */
  readonly #open = new Set<OpenLogin>();
  /** Logins whose listener is open, also those that only tell latecomers that it is over. */
  readonly #listening = new Set<OpenLogin>();
  /** One approval at a time: the first to succeed closes the others. */
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: LoginRequestsOptions) {
    this.#options = options;
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }

  async start(target: LoginTarget): Promise<PendingLogin> {
    const pair = await makeDelegateKey();
    const state = crypto.getRandomValues(new Uint8Array(32)).toHex();
    const expiresAt = this.#now() + LOGIN_MS;
    const outcome = Promise.withResolvers<LoginOutcome>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const checkAge = () => {
      if (this.#open.has(login) && this.#now() < expiresAt) return;
      login.end({ status: "expired" });
      login.close();
      throw gone();
    };
    const approve = async (approval: Approval) => {
      const { relayer: relayerUrl, webUrl, label } = target;
      const createdAt = new Date(this.#now()).toISOString();
      const saved = credentialsOf(pair, { label, ...approval, relayerUrl, webUrl, createdAt });
      await this.#inTurn(() => this.#save(login, saved));
      return () => void this.#finish(login, saved);
    };
    const listener = await openListener({
      origin: new URL(target.webUrl).origin,
      routes: {
        "/proof": async ({ text }) => {
          const accountId = parseProofRequest(text, state);
          checkAge();
          return [Response.json({ proof: await keyProof(pair.privateKey, accountId) })];
        },
        "/callback": async ({ text }) => {
          const approval = parseApproval(text, state);
          checkAge();
          const sent = await approve(approval);
          return [new Response(CONNECTED_PAGE, { headers: PAGE_HEADERS }), sent];
        },
      },
      listen: this.#options.listen,
    });
    const login: OpenLogin = {
      end: (how) => {
        this.#open.delete(login);
        outcome.resolve(how);
      },
      close: () => {
        clearTimeout(timer);
        this.#listening.delete(login);
        listener.close();
      },
    };
    timer = setTimeout(() => {
      login.end({ status: "expired" });
      timer = setTimeout(login.close, LATE_MS);
    }, LOGIN_MS);
    this.#add(login);
    return {
      url: loginUrl(target, pair, listener.port, state),
      expiresAt: new Date(expiresAt),
      keySuffix: pair.publicKey.slice(-8),
      outcome: outcome.promise,
    };
  }

  #add(login: OpenLogin): void {
    this.#open.add(login);
    this.#listening.add(login);
    if (this.#closed) this.#drop(login);
    for (const oldest of this.#open) {
      if (this.#open.size > MOST_OPEN) this.#drop(oldest);
    }
  }

  #drop(login: OpenLogin): void {
    login.end({ status: "closed" });
    login.close();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** Writes the file; the outcome of a success follows once the browser has its answer. */
  async #save(login: OpenLogin, credentials: Credentials): Promise<void> {
    if (!this.#open.delete(login)) throw gone();
    login.close();
    try {
      await writeCredentials(this.#options.credentialsPath, credentials);
    } catch (error) {
      login.end({ status: "failed", problem: SvcError.from(error).message });
      throw new Refusal(500, "storage_unavailable", "The credentials could not be saved");
    }
    for (const other of this.#open) this.#drop(other);
  }

  /** Tells whether the relayer accepts the new key; a login is not undone when it does not. */
  async #finish(login: OpenLogin, credentials: Credentials): Promise<void> {
    const problem = await checkKey(credentials, this.#options);
    login.end({
      status: "signed-in",
      accountId: credentials.accountId,
      ...(problem === undefined ? {} : { problem }),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#turn;
    for (const login of this.#listening) this.#drop(login);
  }
}

export function openLoginRequests(options: LoginRequestsOptions): LoginRequests {
  return new OpenLogins(options);
}
