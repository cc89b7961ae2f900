import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Buffer } from "node:buffer";
import { Dropped } from "./faults.ts";

/** A listening server. */
export interface DevServer extends AsyncDisposable {
  /** Port it listens on. */
  readonly port: number;
}

/** Answers one request; throws {@linkcode Dropped} to break the connection without an answer. */
export type Handler = (request: Request) => Promise<Response>;

async function bodyOf(incoming: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  for await (const part of incoming) parts.push(part);
  return new Uint8Array(Buffer.concat(parts));
}

async function requestOf(
  incoming: IncomingMessage,
  host: string,
  signal: AbortSignal,
): Promise<Request> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  const method = incoming.method ?? "GET";
  const body = method === "GET" || method === "HEAD" ? undefined : await bodyOf(incoming);
  const request = new Request(`http://${host}${incoming.url ?? "/"}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  // A request follows the signal it is made with only weakly: a stream that waits for nothing else
  // would not end when that tie has been collected as garbage.
  Object.defineProperty(request, "signal", { value: signal });
  return request;
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.statusCode = response.status;
  response.headers.forEach((value, name) => outgoing.setHeader(name, value));
  if (response.body !== null) {
    const reader = response.body.getReader();
    // A stream that has nothing to say for long must notice that nobody listens any more.
    outgoing.on("close", () => void reader.cancel().catch(() => undefined));
    outgoing.flushHeaders();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      outgoing.write(read.value);
    }
    if (outgoing.destroyed) return;
  }
  outgoing.end();
}

/**
 * Serves on 127.0.0.1. Unlike `Deno.serve` it can break a connection without any answer, which is
 * what a caller sees of a server that dies.
 *
 * @param port 0 for any free one.
 */
export async function listen(port: number, handler: Handler): Promise<DevServer> {
  const open = new Set<AbortController>();
  const running = new Set<Promise<void>>();
  let host = "127.0.0.1";
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const gone = new AbortController();
    outgoing.on("close", () => gone.abort());
    open.add(gone);
    try {
      await send(await handler(await requestOf(incoming, host, gone.signal)), outgoing);
    } catch (error) {
      if (error instanceof Dropped || outgoing.headersSent) {
        incoming.socket.destroy();
        return;
      }
      outgoing.statusCode = 500;
      outgoing.end(`${error instanceof Error ? error.stack : error}`);
    } finally {
      open.delete(gone);
    }
  };
  const server = createServer((incoming, outgoing) => {
    const done = answer(incoming, outgoing).finally(() => running.delete(done));
    running.add(done);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("no port");
  host = `127.0.0.1:${address.port}`;
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      for (const gone of open) gone.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await Promise.allSettled([...running]);
      await closed;
    },
  };
}
