import { listening } from "../listening.ts";
import type { SidecarOptions } from "../../src/mcp/options.ts";
import { watched } from "../watched_answers.ts";
import { createSidecar, type Sidecar } from "../../src/mcp/mcp.ts";
import {
  type FixtureOptions,
  startRelayer,
  type TestKey,
  type TestRelayer,
} from "../relayer_fixture.ts";

/** Secret of the tests. */
export const TOKEN = "token-of-the-sidecar-tests";

/** A relayer and a sidecar in this process, each on a loopback port. */
export class TestSidecar implements AsyncDisposable {
  constructor(
    readonly svc: TestRelayer,
    readonly sidecar: Sidecar,
    readonly base: string,
    readonly stack: AsyncDisposableStack,
  ) {}

  /** Headers of a session of a key. */
  headers(
    key: TestKey = this.svc.key,
    accountId = this.svc.account.accountId,
  ): Record<string, string> {
    return {
      "x-svc-sidecar-token": TOKEN,
      "x-svc-client-ip": "127.0.0.1",
      authorization: `Bearer ${key.seed.toHex()}`,
      "x-svc-account-id": accountId,
    };
  }

  /** A request past the network; header `null` removes a default. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string | null>> = {},
  ): Promise<Response> {
    const all = new Headers({ ...this.headers(), accept: "application/json, text/event-stream" });
    if (body !== undefined) all.set("content-type", "application/json");
    for (const [name, value] of Object.entries(headers)) {
      if (value === null) all.delete(name);
      else all.set(name, value);
    }
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const url = `http://127.0.0.1${path}`;
    const init = { method, headers: all, ...(body === undefined ? {} : { body: text }) };
    return watched(await this.sidecar.fetch(new Request(url, init)), method, url);
  }

  /** Opens a Streamable session; answers its id. */
  async open(headers: Readonly<Record<string, string | null>> = {}): Promise<string> {
    const response = await this.send("POST", "/api/mcp", INITIALIZE, headers);
    await response.text();
    const id = response.headers.get("mcp-session-id");
    if (id === null) throw new Error(`initialize answered ${response.status}`);
    return id;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stack.disposeAsync();
  }
}

/** A request that starts a session. */
export const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
};

/** Starts both. */
export async function startSidecarTest(
  options: Partial<SidecarOptions> = {},
  relayer: FixtureOptions = {},
): Promise<TestSidecar> {
  const stack = new AsyncDisposableStack();
  const svc = stack.use(await startRelayer(relayer));
  const listen = { hostname: "127.0.0.1", port: 0, onListen() {} };
  const server = stack.use(listening(svc.relayer.fetch));
  const sidecar = createSidecar({
    relayerUrl: server.url,
    token: TOKEN,
    ...options,
  });
  const front = stack.use(Deno.serve(listen, sidecar.fetch));
  stack.use(sidecar);
  return new TestSidecar(svc, sidecar, `http://127.0.0.1:${front.addr.port}`, stack);
}

/** JSON of the messages of an event stream that has ended. */
export async function messagesOf(response: Response): Promise<Record<string, unknown>[]> {
  const text = await response.text();
  return text.split("\n").filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)));
}
