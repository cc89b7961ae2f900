import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { EventStream } from "./event_stream.ts";

/** HTTP with SSE, revision 2024-11-05: one stream out, messages in by POST. */
export class SseTransport implements Transport {
  readonly sessionId: string;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  readonly #stream: EventStream;

  /** Opens the stream; its first event names where messages go. */
  constructor(sessionId: string, keepaliveMs: number) {
    this.sessionId = sessionId;
    this.#stream = new EventStream({
      firstKeepaliveMs: 0,
      keepaliveMs,
      onEnd: () => this.onclose?.(),
    });
    this.#stream.event("endpoint", `/api/mcp/messages?sessionId=${sessionId}`);
  }

  response(): Response {
    return this.#stream.response();
  }

  /** Nothing is left to start. */
  start(): Promise<void> {
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.#stream.event("message", JSON.stringify(message));
    return Promise.resolve();
  }

  /** Ends the stream and with it the session. */
  close(): Promise<void> {
    this.#stream.close();
    return Promise.resolve();
  }
}
