import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { within } from "../../src/deadline.ts";
import { SvcError } from "../../src/errors.ts";
import { checkHead, checkHost, headerOf, readBody, Refusal } from "./request_checks.ts";

/** Longest wait for the listener, in milliseconds. */
const OPENING_MS = 5000;

/** What asks: the body of its request, and its port on this machine. */
export interface Asked {
  readonly text: string;
  readonly port: number;
}

/** An answer, and what to do once it was sent or the browser has gone. */
export type Answer = readonly [answer: Response, sent?: () => void];

interface ListenerOptions {
  /** Origin of the dashboard: the only one that is answered. */
  readonly origin: string;
  /** Answers a POST, by its path, or throws a refusal. */
  readonly routes: Readonly<Record<string, (asked: Asked) => Promise<Answer>>>;
  /** Starts listening and answers the port; default: a random port of 127.0.0.1. */
  readonly listen?: ((server: Server) => Promise<number>) | undefined;
}

/** What the dashboard's browser asks before it posts to another origin in a private network. */
function preflight(request: IncomingMessage): Response {
  const wanted = headerOf(request, "access-control-request-private-network");
  const headers = {
    "access-control-allow-methods": "POST, OPTIONS",
    "access-control-allow-headers": "content-type",
    "access-control-max-age": "300",
    ...(wanted === "true" ? { "access-control-allow-private-network": "true" } : {}),
  };
  return new Response(null, { status: 204, headers });
}

/** The checks of docs/protocol.md#14.2, in its order, then what was asked for. */
async function answer(
  request: IncomingMessage,
  port: number,
  options: ListenerOptions,
): Promise<Answer> {
  checkHost(request, port);
  if (request.method === "OPTIONS") {
    const isDashboard = headerOf(request, "origin") === options.origin;
    return [isDashboard ? preflight(request) : new Response(null, { status: 204 })];
  }
  const path = checkHead(request, options.origin, Object.keys(options.routes));
  const text = await readBody(request);
  return await options.routes[path]!({ text, port: request.socket.remotePort ?? 0 });
}

function refused(thrown: unknown): Answer {
  const { status, message, code } = thrown instanceof Refusal
    ? thrown
    : new Refusal(500, "internal_error", "Something went wrong on our side");
  return [Response.json({ error: message, code }, { status })];
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Response,
  origin: string,
): Promise<void> {
  const isDashboard = headerOf(request, "origin") === origin;
  const body = new Uint8Array(await answer.arrayBuffer());
  response.writeHead(answer.status, {
    ...Object.fromEntries(answer.headers),
    vary: "origin",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    connection: "close",
    ...(isDashboard ? { "access-control-allow-origin": origin } : {}),
    ...(answer.status === 204 ? {} : { "content-length": body.length }),
  });
  response.end(body);
}

async function listenOnLoopback(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address === "object" && address !== null) return address.port;
  throw new Error("The listener has no port");
}

/**
 * Opens the listener that waits for the dashboard.
 *
 * @returns its port, and how to stop listening; requests on their way are still answered.
 * @throws {SvcError} `internal_error` when there is none within five seconds.
 */
export async function openListener(options: ListenerOptions) {
  let port = 0;
  const server = createServer((request, response) => {
    // From the start on: a browser may be gone before its approval is dealt with.
    const closed = new Promise((resolve) => response.once("close", resolve));
    answer(request, port, options).catch(refused).then(async ([answer, sent]) => {
      await send(request, response, answer, options.origin);
      await closed;
      sent?.();
    });
  });
  server.headersTimeout = 10_000;
  server.requestTimeout = 30_000;
  const { listen = listenOnLoopback } = options;
  try {
    port = await within(OPENING_MS, listen(server), () => {
      throw new Error("It takes too long");
    });
  } catch (cause) {
    server.close();
    throw new SvcError("internal_error", "No listener could be opened on 127.0.0.1", { cause });
  }
  server.on("error", () => undefined);
  return { port, close: () => void server.close() };
}
