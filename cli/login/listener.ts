import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { within } from "../../src/deadline.ts";
import { SvcError } from "../../src/errors.ts";
import { type Approval, parseApproval, parseProofRequest } from "./approval.ts";
import { checkHead, checkHost, headerOf, readBody, Refusal } from "./request_checks.ts";

/** Longest wait for the listener, in milliseconds. */
const OPENING_MS = 5000;

/** The page that ends a login in the browser. */
const CONNECTED_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Connected</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { display: grid; min-height: 90vh; place-content: center; text-align: center; }
</style>
</head>
<body>
<h1>Connected</h1>
<p>Your key is saved on this computer. You can close this page.</p>
</body>
</html>
`;

interface ListenerOptions {
  /** Origin of the dashboard: the only one that is answered. */
  readonly origin: string;
  /** 64 lower-case hex characters. */
  readonly state: string;
  /** Throws a refusal once the login is over. */
  readonly checkAge: () => void;
  /** Signature that proves possession of the new key to an account's registry, 128 hex characters. */
  readonly prove: (accountId: string) => Promise<string>;
  /**
   * Handles the approval, or throws a refusal; returns what to do once the browser has its answer.
   */
  readonly approve: (approval: Approval) => Promise<() => void>;
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

/** An answer, and what to do once it was sent or the browser has gone. */
type Answer = readonly [answer: Response, sent?: () => void];

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
  const path = checkHead(request, options.origin);
  const text = await readBody(request);
  if (path === "/proof") {
    const accountId = parseProofRequest(text, options.state);
    options.checkAge();
    return [Response.json({ proof: await options.prove(accountId) })];
  }
  const approval = parseApproval(text, options.state);
  options.checkAge();
  const sent = await options.approve(approval);
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
  };
  return [new Response(CONNECTED_PAGE, { headers }), sent];
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
