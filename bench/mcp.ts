import { connectProven } from "../src/http1/sidecar_connections.ts";
import { HttpConnection } from "../src/http1/http_connection.ts";
import { Connection } from "./connection.ts";
import { DataFolder } from "./data_folder.ts";
import type { Figure, Part } from "./figures.ts";
import { fill, sentence } from "./fill.ts";
import { freePort, ServerProcess } from "./server_process.ts";
import { median, quantile } from "./statistics.ts";

const ROUNDS = 5;
const CACHED = 200;
const UNCACHED = 40;
const WARM_UP = 500;
const MEMORIES = 1000;
const QUERY = "What do I drink in the morning?";
const TOKEN = "token-of-the-benchmark";

/** A Streamable session over one connection. */
class Session implements Disposable {
  readonly #connection: HttpConnection;
  readonly #headers: Headers;

  private constructor(connection: HttpConnection, headers: Headers) {
    this.#connection = connection;
    this.#headers = headers;
  }

  /** Opens a session, waiting for the sidecar if need be. */
  static async open(
    connecting: Promise<HttpConnection>,
    given: Readonly<Record<string, string>>,
  ): Promise<Session> {
    const headers = new Headers({
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...given,
    });
    const session = new Session(await connecting, headers);
    const clientInfo = { name: "bench", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    for (;;) {
      const answer = await session.#send("initialize", params);
      if (answer.status === 502) continue;
      const id = answer.headers.get("mcp-session-id");
      if (id === null) throw new Error(`${answer.status}: ${answer.text}`);
      headers.set("mcp-session-id", id);
      return session;
    }
  }

  async #send(method: string, params: unknown) {
    const body = new TextEncoder().encode(
      JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    );
    const request = { method: "POST", target: "/api/mcp", headers: this.#headers, body };
    const { status, headers, body: pieces } = await this.#connection.send(request);
    const decoder = new TextDecoder();
    let text = "";
    for (;;) {
      const piece = await pieces?.next();
      if (piece === undefined || piece.done) return { status, headers, text };
      text += decoder.decode(piece.value, { stream: true });
    }
  }

  /** Milliseconds of one request; its answer must hold a text. */
  async time(method: string, params: unknown, holds: string): Promise<number> {
    const start = performance.now();
    const { status, text } = await this.#send(method, params);
    const ms = performance.now() - start;
    if (status !== 200 || !text.includes(holds)) throw new Error(`${status}: ${text}`);
    return ms;
  }

  /** Closes the connection. */
  [Symbol.dispose](): void {
    this.#connection.close();
  }
}

/** MCP through the started program, next to the sidecar and to the signed route alone. */
export const mcpPart: Part = {
  name: "mcp",
  title: "mcp: Streamable HTTP through launcher, relayer and sidecar, one client",
  async run(note) {
    await using folder = await DataFolder.make();
    note("filling");
    await fill(folder, { notes: MEMORIES });
    const port = freePort();
    const sidecar = `http://127.0.0.1:${freePort()}`;
    await using _server = await ServerProcess.start({
      args: ["main.ts", "start"],
      port,
      env: { ...folder.env(port), SIDECAR_URL: sidecar, SIDECAR_AUTH_TOKEN: TOKEN },
    });
    const credentials = {
      authorization: `Bearer ${folder.key.seed}`,
      "x-svc-account-id": folder.account.accountId,
      "x-svc-namespace": "notes",
    };
    const opened = HttpConnection.open(`http://127.0.0.1:${port}`);
    using session = await Session.open(opened, credentials);
    const proven = connectProven(sidecar, { token: TOKEN, listens: "sidecar" });
    using direct = await Session.open(proven, {
      ...credentials,
      "x-svc-client-ip": "127.0.0.1",
    });
    using signed = await Connection.open(port);
    const recall = async (query: string) => {
      const request = folder.key.request("POST", "/api/recall", { query, namespace: "notes" });
      const start = performance.now();
      await signed.json(request);
      return performance.now() - start;
    };
    const tool = (query: string) =>
      session.time("tools/call", { name: "svc_recall", arguments: { query } }, "1. [score=");
    const rounds: Record<string, number[]>[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      note(round === 0 ? "warming up" : `round ${round} of ${ROUNDS}`);
      const times = {
        proxied: [],
        direct: [],
        signed: [],
        tool: [],
        signedNew: [],
        toolNew: [],
      } as Record<string, number[]>;
      // In turn, so that each finds the machine as the others leave it.
      for (let i = 0; i < (round === 0 ? WARM_UP : CACHED); i++) {
        times["proxied"]!.push(await session.time("ping", undefined, '"result":{}'));
        times["direct"]!.push(await direct.time("ping", undefined, '"result":{}'));
        times["signed"]!.push(await recall(QUERY));
        times["tool"]!.push(await tool(QUERY));
      }
      for (let i = 0; i < UNCACHED; i++) {
        const at = 2 * (round * UNCACHED + i);
        times["signedNew"]!.push(await recall(sentence(1_000_000 + at)));
        times["toolNew"]!.push(await tool(sentence(1_000_001 + at)));
      }
      if (round > 0) rounds.push(times);
    }
    return figuresOf(rounds);
  },
};

function figuresOf(rounds: readonly Record<string, number[]>[]): Figure[] {
  const all = (kind: string) => rounds.flatMap((times) => times[kind]!);
  const p50s = (kind: string, name: string): Figure[] => [
    { name: `${name}, p50`, value: median(all(kind)), unit: "ms" },
    { name: `${name}, p95`, value: quantile(all(kind), 0.95), unit: "ms" },
  ];
  const overhead = median(
    rounds.map((times) => median(times["proxied"]!) - median(times["direct"]!)),
  );
  const ratio = (above: string, below: string) =>
    median(rounds.map((times) => median(times[above]!) / median(times[below]!)));
  return [
    ...p50s("direct", "ping of a session, to the sidecar"),
    ...p50s("proxied", "ping of a session, through the relayer"),
    { name: "proxy overhead, p50", value: overhead, unit: "ms", goal: { atMost: 1 } },
    ...p50s("signed", "signed recall, cached query"),
    ...p50s("tool", "svc_recall, cached query"),
    {
      name: "svc_recall / signed, cached query",
      value: ratio("tool", "signed"),
      unit: "x",
      goal: { atMost: 2.5 },
    },
    ...p50s("signedNew", "signed recall, new query"),
    ...p50s("toolNew", "svc_recall, new query"),
    {
      name: "svc_recall / signed, new query",
      value: ratio("toolNew", "signedNew"),
      unit: "x",
      goal: { atMost: 2.5 },
    },
  ];
}
