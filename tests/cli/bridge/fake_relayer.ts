import type { Json } from "../../relayer_fixture.ts";

/** One request, as the relayer saw it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  /** The JSON-RPC message of a POST. */
  readonly message: Json;
}

/** What a relayer does with a `tools/call` or another request: a result, or a whole response. */
export type OnRequest = (message: Json, seen: Seen) => Json | Response | Promise<Json | Response>;

/** Options of {@linkcode FakeRelayer}. */
export interface FakeRelayerOptions {
  /** Answers requests other than `initialize`; default: the arguments as text. */
  readonly onRequest?: OnRequest;
  /** Answers any request first; `undefined` leaves it to the relayer. */
  readonly before?: (seen: Seen) => Response | undefined | Promise<Response | undefined>;
  /** What `GET /version` says of idempotency keys; default `true`. */
  readonly honoursKeys?: boolean;
  /** Default: any. */
  readonly port?: number;
}

const events = (...messages: Json[]): string =>
  messages.map((message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`).join("");

/** An event stream with some messages. */
export function eventResponse(messages: Json[], headers: Record<string, string> = {}): Response {
  return new Response(events(...messages), {
    headers: { "content-type": "text/event-stream", ...headers },
  });
}

/** A relayer's MCP routes over a real socket, that answers what a test wants. */
export class FakeRelayer implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #options: FakeRelayerOptions;
  readonly #streams = new Set<ReadableStreamDefaultController<Uint8Array>>();
  /** Streams of the legacy transport by session. */
  readonly #sse = new Map<string, ReadableStreamDefaultController<Uint8Array>>();
  #sessions = 0;
  /** Every request of MCP, in order. */
  readonly seen: Seen[] = [];

  constructor(options: FakeRelayerOptions = {}) {
    this.#options = options;
    const listen = { hostname: "127.0.0.1", port: options.port ?? 0, onListen() {} };
    this.#server = Deno.serve(listen, (request) => this.#answer(request));
  }

  /** Base address. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Port. */
  get port(): number {
    return this.#server.addr.port;
  }

  /** Messages with a method, in order. */
  messages(method: string): Json[] {
    return this.seen.map(({ message }) => message).filter((message) => message?.method === method);
  }

  /** Requests as `METHOD path`. */
  get trace(): string[] {
    return this.seen.map(({ method, path }) => `${method} ${path}`);
  }

  async #answer(request: Request): Promise<Response> {
    const { method, headers } = request;
    const url = new URL(request.url);
    const text = await request.text();
    const message = text === "" ? undefined : JSON.parse(text);
    const seen = { method, path: url.pathname, headers, message };
    // What comes before the first message: an earlier relayer offers nothing and makes no tokens.
    if (!/^\/(version|api\/(session-token|account))$/.test(url.pathname)) this.seen.push(seen);
    const early = await this.#options.before?.(seen);
    if (early !== undefined) return early;
    switch (`${method} ${url.pathname}`) {
      case "GET /version":
        return Response.json({
          featureFlags: { "remember.idempotencyKey": this.#options.honoursKeys ?? true },
        });
      case "POST /api/mcp":
        return await this.#streamable(message, seen);
      case "GET /api/mcp":
        return this.#stream(() => {});
      case "DELETE /api/mcp":
        return new Response(null, { status: 200 });
      case "GET /api/mcp/sse":
        return this.#openSse();
      case "POST /api/mcp/messages":
        return await this.#legacy(url.searchParams.get("sessionId") ?? "", message, seen);
    }
    return new Response(null, { status: 404 });
  }

  #stream(opened: (controller: ReadableStreamDefaultController<Uint8Array>) => void): Response {
    let own: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        own = controller;
        this.#streams.add(controller);
        opened(controller);
      },
      cancel: () => void this.#streams.delete(own),
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }

  async #result(message: Json, seen: Seen): Promise<Json | Response> {
    if (message.method === "initialize") {
      return {
        protocolVersion: message.params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "fake", version: "1" },
      };
    }
    const echo: OnRequest = ({ params }) => ({
      content: [{ type: "text", text: JSON.stringify(params?.arguments ?? {}) }],
    });
    return await (this.#options.onRequest ?? echo)(message, seen);
  }

  async #streamable(message: Json, seen: Seen): Promise<Response> {
    if (message.id === undefined || message.method === undefined) {
      return new Response(null, { status: 202 });
    }
    const result = await this.#result(message, seen);
    if (result instanceof Response) return result;
    const session = message.method === "initialize" ? `session-${++this.#sessions}` : undefined;
    return eventResponse(
      [{ jsonrpc: "2.0", id: message.id, result }],
      session === undefined ? {} : { "mcp-session-id": session },
    );
  }

  #openSse(): Response {
    const id = `sse-${++this.#sessions}`;
    return this.#stream((controller) => {
      this.#sse.set(id, controller);
      const line = `event: endpoint\r\ndata: /api/mcp/messages?sessionId=${id}\r\n\r\n`;
      controller.enqueue(new TextEncoder().encode(line));
    });
  }

  async #legacy(id: string, message: Json, seen: Seen): Promise<Response> {
    const stream = this.#sse.get(id);
    if (stream === undefined) return new Response(null, { status: 404 });
    if (message.id !== undefined && message.method !== undefined) {
      const result = await this.#result(message, seen);
      if (result instanceof Response) return result;
      const text = events({ jsonrpc: "2.0", id: message.id, result }).replaceAll("\n", "\r\n");
      stream.enqueue(new TextEncoder().encode(text));
    }
    return new Response(null, { status: 202 });
  }

  /** Ends every open stream, as a relayer that goes down does. */
  endStreams(): void {
    for (const controller of this.#streams) controller.close();
    this.#streams.clear();
    this.#sse.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.endStreams();
    await this.#server.shutdown();
  }
}
