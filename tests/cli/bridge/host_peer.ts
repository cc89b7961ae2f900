import type { Json } from "../../relayer_fixture.ts";
import { within } from "../../within.ts";

/** Plays an MCP host at the other end of the package's standard input and output. */
export class HostPeer {
  readonly #send: (line: string) => void | Promise<void>;
  readonly #waiting = new Map<unknown, (message: Json) => void>();
  readonly #listeners = new Set<() => void>();
  #nextId = 0;
  /** Every message that came, in order. */
  readonly messages: Json[] = [];
  /** Resolves when the output has ended. */
  readonly ended: Promise<void>;

  /** Sends lines, without their ends, to `send`; reads them from `lines`. */
  constructor(send: (line: string) => void | Promise<void>, lines: AsyncIterable<string>) {
    this.#send = send;
    this.ended = this.#read(lines);
  }

  async #read(lines: AsyncIterable<string>): Promise<void> {
    for await (const line of lines) {
      const message = JSON.parse(line);
      this.messages.push(message);
      if (!("method" in message)) this.#waiting.get(message.id)?.(message);
      for (const listener of this.#listeners) listener();
    }
  }

  /** Fails when the output ends, unless nobody cares any more. */
  #within<T>(promise: Promise<T>, what: () => string): Promise<T> {
    const over = this.ended.then(() => {
      throw new Error(`the output ended: ${what()}`);
    });
    return careless(within(Promise.race([promise, over]), what));
  }

  /** Sends a line as it is. */
  raw(line: string): void | Promise<void> {
    return this.#send(line);
  }

  /** Sends a request and answers the whole response. */
  request(method: string, params?: Json, id: Json = this.#nextId++): Promise<Json> {
    return careless(this.#request(method, params, id));
  }

  async #request(method: string, params: Json, id: Json): Promise<Json> {
    const answer = new Promise<Json>((resolve) => this.#waiting.set(id, resolve));
    await this.#send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return await this.#within(answer, () => `no answer to ${method} ${JSON.stringify(params)}`);
  }

  /** Sends a notification. */
  async notify(method: string, params?: Json): Promise<void> {
    await this.#send(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  /** Begins a session; answers the result of `initialize`. */
  async initialize(protocolVersion = "2025-11-25"): Promise<Json> {
    const clientInfo = { name: "test host", version: "1" };
    const params = { protocolVersion, capabilities: {}, clientInfo };
    const { result } = await this.request("initialize", params);
    await this.notify("notifications/initialized");
    return result;
  }

  /** Calls a tool; answers its result. */
  call(name: string, args: Json = {}, meta?: Json): Promise<Json> {
    return careless(this.#call(name, args, meta));
  }

  async #call(name: string, args: Json, meta: Json): Promise<Json> {
    const params = { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) };
    const { result, error } = await this.request("tools/call", params);
    if (error !== undefined) throw new Error(`${error.code} ${error.message}`);
    return result;
  }

  /** Names of the tools, sorted. */
  async tools(): Promise<string[]> {
    const { result } = await this.request("tools/list");
    return result.tools.map(({ name }: Json) => name).sort();
  }

  /** Resolves once so many notifications of a method have come; answers the last of them. */
  async heard(method: string, count = 1): Promise<Json> {
    for (;;) {
      const found = this.messages.filter((message) => message.method === method);
      if (found.length >= count) return found[count - 1];
      const more = new Promise<void>((resolve) => {
        const listener = (): void => {
          this.#listeners.delete(listener);
          resolve();
        };
        this.#listeners.add(listener);
      });
      await this.#within(more, () => `no ${method}`);
    }
  }
}

/** A promise whose rejection fails a test only where it is awaited. */
function careless<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** Text of a tool's result. */
export function textOf(result: Json): string {
  return result.content.map(({ text }: Json) => text).join("\n");
}

/** The tools that are listed, sorted: signed in, with a key that may manage, and signed out. */
export const TOOLS = {
  managing: [
    "svc_analyze",
    "svc_forget",
    "svc_list",
    "svc_logout",
    "svc_recall",
    "svc_remember",
    "svc_restore",
    "svc_update",
  ],
  signedIn: [
    "svc_analyze",
    "svc_list",
    "svc_login",
    "svc_logout",
    "svc_recall",
    "svc_remember",
    "svc_restore",
  ],
  authRequired: [
    "svc_analyze",
    "svc_list",
    "svc_login",
    "svc_recall",
    "svc_remember",
    "svc_restore",
  ],
} as const;
