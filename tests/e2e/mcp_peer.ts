import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { INITIALIZE } from "../mcp/fixture.ts";

/** A delegate key as an MCP client knows it. */
export interface McpKey {
  /** 64 hex characters. */
  readonly privateKey: string;
  /** `0x` and 64 hex characters. */
  readonly accountId: string;
}

/** An answer whose head has come. */
export interface PeerAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Reads the body to its end. */
  text(): Promise<string>;
  /** Reads until the body holds this text. */
  until(part: string): Promise<string>;
  /** Resolves when the connection is closed, whoever closed it. */
  readonly closed: Promise<void>;
  /** Breaks the connection, as a client that dies. */
  destroy(): void;
}

interface PeerRequest {
  readonly method: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** An MCP client at a loopback address of its own; each request has a connection of its own. */
export class McpPeer {
  /** Session of {@linkcode open}. */
  id = "";
  /** Stream of {@linkcode openSse}. */
  stream: PeerAnswer | undefined;

  /** `base` is the relayer's address, `address` the client's. */
  constructor(
    readonly base: string,
    readonly address: string,
    readonly key: McpKey,
  ) {}

  /** Sends a request and waits for the head of its answer. */
  send({ method, path = "/api/mcp", headers = {}, body }: PeerRequest): Promise<PeerAnswer> {
    const { hostname, port } = new URL(this.base);
    const text = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const sent = request({
        hostname,
        port,
        path,
        method,
        localAddress: this.address,
        agent: false,
        headers: {
          accept: "application/json, text/event-stream",
          authorization: `Bearer ${this.key.privateKey}`,
          "x-svc-account-id": this.key.accountId,
          ...(this.id === "" ? {} : { "mcp-session-id": this.id }),
          ...(text === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
      }, (incoming) => resolve(answerOf(sent, incoming)));
      sent.on("error", reject);
      sent.end(text);
    });
  }

  /** Opens a Streamable session as clients do: initialize, then a notification. */
  async open(): Promise<PeerAnswer> {
    const opened = await this.send({ method: "POST", body: INITIALIZE });
    if (opened.status !== 200) return opened;
    await opened.text();
    this.id = String(opened.headers["mcp-session-id"]);
    const ready = { jsonrpc: "2.0", method: "notifications/initialized" };
    await (await this.send({ method: "POST", body: ready })).text();
    return opened;
  }

  /** Opens a session of the older transport. */
  async openSse(): Promise<PeerAnswer> {
    const opened = await this.send({ method: "GET", path: "/api/mcp/sse" });
    if (opened.status !== 200) return opened;
    this.stream = opened;
    await opened.until("\n\n");
    return opened;
  }

  /** Closes a Streamable session; answers the status. */
  async close(): Promise<number> {
    const answer = await this.send({ method: "DELETE" });
    await answer.text();
    this.id = "";
    return answer.status;
  }
}

function answerOf(sent: ClientRequest, incoming: IncomingMessage): PeerAnswer {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let text = "";
  let changed: () => void = () => {};
  incoming.setEncoding("utf8");
  incoming.on("data", (piece: string) => {
    text += piece;
    changed();
  });
  incoming.on("error", () => {});
  sent.on("error", () => {});
  incoming.on("close", () => {
    resolve();
    changed();
  });
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    closed,
    async text() {
      await closed;
      return text;
    },
    async until(part) {
      while (!text.includes(part)) {
        if (incoming.closed) throw new Error(`ended before ${JSON.stringify(part)}: ${text}`);
        await new Promise<void>((wake) => changed = wake);
      }
      return text;
    },
    destroy() {
      sent.destroy();
    },
  };
}
