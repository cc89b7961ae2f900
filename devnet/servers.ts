import type { Faults } from "./faults.ts";
import { type DevServer, listen } from "./http_server.ts";
import type { CallCounts, EndpointHandler } from "./parts.ts";

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, HEAD, POST, PUT, DELETE, OPTIONS",
  "access-control-expose-headers": "*",
  "access-control-max-age": "600",
};

/** A response that pages of every origin may read. */
function withCors(response: Response): Response {
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(CORS)) headers.set(name, value);
  return new Response(response.body, { status: response.status, headers });
}

/** What a browser asks before a request with a body; `*` does not cover `authorization`. */
function preflight(request: Request): Response {
  const asked = request.headers.get("access-control-request-headers") ?? "*";
  return new Response(null, { status: 204, headers: { "access-control-allow-headers": asked } });
}

/** Options of {@linkcode EndpointServers}. */
export interface EndpointServersOptions {
  /** Their faults. */
  readonly faults: Faults;
  /** Counts their requests. */
  readonly calls: CallCounts;
  /** Port of the first one; the others get the ports after it. 0: any free ports. */
  readonly port: number;
}

/** The HTTP servers of a devnet, one port for every endpoint. */
export class EndpointServers implements AsyncDisposable {
  readonly #options: EndpointServersOptions;
  readonly #servers: DevServer[] = [];

  /** None yet. */
  constructor(options: EndpointServersOptions) {
    this.#options = options;
  }

  /** Serves an endpoint with its faults applied, CORS, and its requests counted. */
  serve(endpoint: string, handler: EndpointHandler): Promise<string> {
    const { faults, calls } = this.#options;
    return this.listen((request) => {
      calls.count(endpoint);
      return faults.answer(endpoint, request, (wrong) => handler(request, wrong));
    });
  }

  /** Serves with CORS only. @returns Base URL without a slash at the end. */
  async listen(handler: (request: Request) => Promise<Response>): Promise<string> {
    const first = this.#options.port;
    const server = await listen(
      first === 0 ? 0 : first + this.#servers.length,
      async (request) =>
        withCors(request.method === "OPTIONS" ? preflight(request) : await handler(request)),
    );
    this.#servers.push(server);
    return `http://127.0.0.1:${server.port}`;
  }

  /** Closes every port. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#servers.map((server) => server[Symbol.asyncDispose]()));
  }
}
