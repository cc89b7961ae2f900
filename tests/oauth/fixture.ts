import { listenHttp } from "../../src/http1/http_listener.ts";
import { proving } from "../../src/http1/mutual_proof.ts";
import { DEFAULT_SIDECAR_LIMITS } from "../../src/mcp/options.ts";
import { startSidecar } from "../../src/mcp/process.ts";
import type { Permission } from "../../src/interfaces/mod.ts";
import { listening } from "../listening.ts";
import {
  type FixtureOptions,
  type Json,
  startRelayer,
  TestKey,
  type TestRelayer,
} from "../relayer_fixture.ts";

const TOKEN = "token-of-the-oauth-tests-0123456789";
export const WEB = "http://localhost:5173";
export const REDIRECT = "http://127.0.0.1:6274/callback";

/** A secret of PKCE and its hash. */
export interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

export async function pkce(): Promise<Pkce> {
  const base64url = { alphabet: "base64url", omitPadding: true } as const;
  const verifier = crypto.getRandomValues(new Uint8Array(32)).toBase64(base64url);
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return { verifier, challenge: new Uint8Array(bytes).toBase64(base64url) };
}

/** An answer of a route that apps call. */
export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

async function told(response: Response): Promise<Told> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  const body = isJson ? JSON.parse(text) : text;
  return { status: response.status, headers: response.headers, body };
}

/** What an owner decides on. */
export interface Decision {
  readonly permissions?: readonly Permission[];
  readonly expiresAt?: number;
  readonly namespaces?: readonly string[];
}

/** A relayer and its sidecar on loopback ports, whose apps are let in by OAuth. */
export class OAuthTest implements AsyncDisposable {
  constructor(
    readonly svc: TestRelayer,
    /** Address of the relayer. */
    readonly base: string,
    readonly stack: AsyncDisposableStack,
  ) {}

  get resource(): string {
    return `${this.base}/api/mcp/connect`;
  }

  async get(path: string, init: RequestInit = {}): Promise<Told> {
    return await told(await fetch(this.base + path, { redirect: "manual", ...init }));
  }

  async form(path: string, members: Readonly<Record<string, string>>): Promise<Told> {
    return await this.get(path, { method: "POST", body: new URLSearchParams(members) });
  }

  async json(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Told> {
    return await this.get(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  }

  /** As the dashboard's page asks. */
  async consent(path: string, body: unknown, origin = WEB): Promise<Told> {
    return await this.json(`/oauth/consent${path}`, body, { origin });
  }

  async register(metadata: Json = {}): Promise<string> {
    const { status, body } = await this.json("/oauth/register", {
      client_name: "Test app",
      redirect_uris: [REDIRECT],
      ...metadata,
    });
    if (status !== 201) throw new Error(`register answered ${JSON.stringify(body)}`);
    return body.client_id;
  }

  /** Where a browser is led that an app sends. */
  async ask(members: Readonly<Record<string, string | undefined>>): Promise<Told> {
    const query = new URLSearchParams();
    const usual = {
      response_type: "code",
      redirect_uri: REDIRECT,
      code_challenge_method: "S256",
      state: "s t&a=te",
      resource: this.resource,
    };
    for (const [name, value] of Object.entries({ ...usual, ...members })) {
      if (value !== undefined) query.set(name, value);
    }
    return await this.get(`/oauth/authorize?${query}`);
  }

  /** The question that a browser carries to the dashboard. */
  async question(members: Readonly<Record<string, string | undefined>>): Promise<string> {
    const { headers, body } = await this.ask(members);
    const [, ticket] = (headers.get("location") ?? "").split("#request=");
    if (ticket === undefined) throw new Error(`nobody is asked: ${JSON.stringify(body)}`);
    return ticket;
  }

  /** Adds a key and lets the app in; answers where the browser goes. */
  async approve(request: string, decision: Decision = {}): Promise<URL> {
    const key = new TestKey();
    const { permissions = ["read", "write"], ...rest } = decision;
    await this.svc.backends.accounts.admin!.addKey(this.svc.account.accountId, {
      publicKey: key.publicKey,
      label: "Test app",
      permissions,
      ...rest,
    });
    const { status, body } = await this.consent("/approve", {
      request,
      account_id: this.svc.account.accountId,
      private_key: key.seed.toHex(),
    });
    if (status !== 200) throw new Error(`approve answered ${JSON.stringify(body)}`);
    return new URL(body.redirect_to);
  }

  /** The whole way of an app, to its tokens. */
  async connect(decision: Decision = {}, members: Record<string, string> = {}): Promise<Json> {
    const client_id = await this.register();
    const { verifier, challenge } = await pkce();
    const request = await this.question({ client_id, code_challenge: challenge, ...members });
    const code = (await this.approve(request, decision)).searchParams.get("code")!;
    const { status, body } = await this.redeem(code, verifier, client_id);
    if (status !== 200) throw new Error(`token answered ${JSON.stringify(body)}`);
    return { ...body, client_id };
  }

  async redeem(
    code: string,
    code_verifier: string,
    client_id: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Told> {
    return await this.form("/oauth/token", {
      grant_type: "authorization_code",
      code,
      code_verifier,
      client_id,
      redirect_uri: REDIRECT,
      ...more,
    });
  }

  async refresh(refresh_token: string, client_id: string, more = {}): Promise<Told> {
    const form = { grant_type: "refresh_token", refresh_token, client_id };
    return await this.form("/oauth/token", { ...form, ...more });
  }

  /** Status of a message to the MCP resource. */
  async message(token: string | undefined, path = "/api/mcp/connect"): Promise<Told> {
    return await this.get(path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: {
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: { name: "t", version: "1" },
        },
      }),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stack.disposeAsync();
  }
}

/** Starts both. */
export async function startOAuth(
  options: FixtureOptions = {},
): Promise<OAuthTest> {
  await using stack = new AsyncDisposableStack();
  const internal = stack.use(listenHttp({
    hostname: "127.0.0.1",
    port: 0,
    answer: proving(
      { token: TOKEN, listens: "relayer" },
      (request, info) => svc.relayer.fetchInternal(request, info),
    ),
    onError() {},
  }));
  const sidecar = stack.use(startSidecar({
    url: "http://127.0.0.1:0",
    token: TOKEN,
    relayerUrl: `http://127.0.0.1:${internal.port}`,
    isInternal: true,
    limits: DEFAULT_SIDECAR_LIMITS,
  }));
  const svc: TestRelayer = stack.use(
    await startRelayer({
      ...options,
      sidecar: { url: `http://127.0.0.1:${sidecar.port}`, token: TOKEN },
    }),
  );
  const front = stack.use(listening(svc.relayer.fetch));
  // As the program does: a client that left just now may still listen, and is waited for.
  stack.defer(() => svc.relayer.drain(1000));
  svc.relayer.listensAt(front.url);
  return new OAuthTest(svc, front.url, stack.move());
}
