import {
  type LoginRequests,
  type LoginRequestsOptions,
  openLoginRequests,
} from "../../cli/login/mod.ts";
import type { LoginTarget, PendingLogin } from "../../cli/login/mod.ts";
import { headOf, rawRequest } from "../http/raw_request.ts";
import type { Answer } from "../relayer_fixture.ts";

/** Origin of the dashboard in these tests. */
export const ORIGIN = "http://localhost:5173";
/** An account, a wallet, a package. */
export const IDS = {
  accountId: "0x" + "a1".repeat(32),
  walletAddress: "0x" + "b2".repeat(32),
  packageId: "0x" + "c3".repeat(32),
} as const;

/** What a request of the dashboard may be changed in. */
export interface PostOptions {
  readonly method?: string;
  readonly host?: string;
  /** `null` sends none. */
  readonly origin?: string | null;
  /** `null` sends none. */
  readonly type?: string | null;
  /** Headers besides. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The dashboard's side of a login, with the parameters of the address it was opened at. */
export class Dashboard {
  /** The address. */
  readonly url: URL;

  /** Reads an address as the dashboard does. */
  constructor(url: string) {
    this.url = new URL(url);
  }

  /** A parameter of the address. */
  parameter(name: string): string {
    return this.url.searchParams.get(name) ?? "";
  }

  /** Port of the listener. */
  get port(): number {
    return Number(this.parameter("port"));
  }

  /** An approval as it is posted to `/callback`. */
  approval(more: object = {}): object {
    return { ...IDS, state: this.parameter("state"), txDigest: "5".repeat(44), ...more };
  }

  /** Posts to the listener; the body may be text. */
  post(path: string, body: unknown, options: PostOptions = {}): Promise<Answer> {
    const { method = "POST", host = `127.0.0.1:${this.port}`, headers = {} } = options;
    const { origin = this.url.origin, type = "application/json" } = options;
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const all: [string, string][] = [
      ...(origin === null ? [] : [["origin", origin] as [string, string]]),
      ...(type === null ? [] : [["content-type", type] as [string, string]]),
      ["content-length", String(new Blob([text]).size)],
      ...Object.entries(headers),
    ];
    return rawRequest(this.port, headOf(method, path, all, host), text);
  }

  /** Approves. */
  approve(more: object = {}): Promise<Answer> {
    return this.post("/callback", this.approval(more));
  }

  /** Whether something listens. */
  async isListening(): Promise<boolean> {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port: this.port })).close();
      return true;
    } catch {
      return false;
    }
  }
}

/** Logins with a folder of their own. */
export interface LoginFixture extends AsyncDisposable {
  readonly logins: LoginRequests;
  /** The credentials file. */
  readonly path: string;
  /** Starts a login; the dashboard has its address. */
  start(target?: Partial<LoginTarget>): Promise<{ login: PendingLogin; dashboard: Dashboard }>;
  /** Names of the files in the folder of the credentials. */
  files(): Promise<string[]>;
}

/** Logins whose relayer cannot be reached unless told otherwise. */
export async function openLogins(
  options: Partial<LoginRequestsOptions> = {},
): Promise<LoginFixture> {
  const home = await Deno.makeTempDir();
  const path = options.credentialsPath ?? `${home}/.svc/credentials.json`;
  const fetch = (): Promise<Response> => Promise.reject(new TypeError("no network in this test"));
  const logins = openLoginRequests({ credentialsPath: path, fetch, ...options });
  return {
    logins,
    path,
    start: async (target = {}) => {
      const login = await logins.start({
        relayer: "http://127.0.0.1:8000",
        webUrl: ORIGIN,
        label: "Laptop",
        ...target,
      });
      return { login, dashboard: new Dashboard(login.url) };
    },
    files: async () => {
      try {
        return (await Array.fromAsync(Deno.readDir(`${home}/.svc`))).map(({ name }) => name);
      } catch {
        return [];
      }
    },
    [Symbol.asyncDispose]: async () => {
      await logins[Symbol.asyncDispose]();
      await Deno.remove(home, { recursive: true });
    },
  };
}
