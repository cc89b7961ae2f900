import {
  createMcpHandler,
  type JSONRPCErrorResponse,
  type McpHttpHandler,
} from "@modelcontextprotocol/server";
import { BoundedMap } from "../../bounded_map.ts";
import type { Bearer } from "../bearer.ts";
import { guardStream } from "./event_stream.ts";
import { clientIpOf, type SessionAdmission } from "../session_admission.ts";
import { buildServer, inServerNaming, type ServerSubject, serverToolName } from "../mcp_server.ts";
import { Principal } from "../principal.ts";
import { capabilitiesIn, showsCard } from "../../wire/card/review_card.ts";

/** Principals that are kept between requests, so that not each request checks the account. */
const MOST_PRINCIPALS = 512;
const MINUTE_MS = 60_000;
const FIRST_KEEPALIVE_MS = 1000;
/** Credentials whose start is remembered; more than the caps let start in a minute is not needed. */
const MOST_STARTS = 100_000;

/** The revision without sessions, 2026-07-28. */
export class Sessionless {
  readonly #admission: SessionAdmission;
  /** By credentials and address, as are the next ones. */
  readonly #principals = new BoundedMap<string, Principal>(MOST_PRINCIPALS);
  /** When they were last counted as a start. */
  readonly #counted = new BoundedMap<string, number>(MOST_STARTS);
  /** Subject of each request on its way to the factory. */
  readonly #subjects = new WeakMap<Request, ServerSubject>();
  readonly #handler: McpHttpHandler;

  constructor(admission: SessionAdmission) {
    this.#admission = admission;
    this.#handler = createMcpHandler(
      ({ requestInfo }) => buildServer(this.#subjects.get(requestInfo!)!, admission),
      {
        legacy: "reject",
        keepAliveMs: 0,
        ...(admission.extension?.bus === undefined ? {} : { bus: admission.extension.bus }),
      },
    );
  }

  /**
   * Answers one request with these credentials; `body` is its parsed JSON.
   *
   * @throws {SvcError} what it is refused with.
   */
  async answer(
    request: Request,
    bearer: Bearer,
    body: unknown,
    requestId: string,
  ): Promise<Response> {
    const headers = this.#admission.sessionHeaders(request);
    const address = clientIpOf(request);
    const id = `${bearer.hash} ${address}`;
    this.#countStart(id, address);
    const principal = this.#principals.get(id) ??
      new Principal(bearer, address, this.#admission.options);
    this.#principals.set(id, principal);
    await principal.check(bearer.secret, () => {
      this.#principals.delete(id);
      this.#counted.delete(id);
    });
    const { aliases } = this.#admission.limits;
    const named = aliases ? inNaming(request, headers.alias) : request;
    const hasCard = headers.profile === "memory" && showsCard(capabilitiesIn(body));
    this.#subjects.set(named, { principal, ...headers, hasCard });
    const response = await this.#handler.fetch(named, {
      parsedBody: aliases ? inServerNaming(body, headers.alias) : body,
    });
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
      return await completeRefusal(response, requestId);
    }
    return guardStream(response.body!, {
      firstKeepaliveMs: FIRST_KEEPALIVE_MS,
      keepaliveMs: this.#admission.limits.keepaliveSeconds * 1000,
    }).response();
  }

  /** Counts one start a minute for credentials from an address, and one after each refusal. */
  #countStart(id: string, address: string): void {
    const now = this.#admission.now();
    if (now - (this.#counted.get(id) ?? -Infinity) < MINUTE_MS) return;
    this.#admission.caps.countStart(address);
    this.#counted.set(id, now);
    this.#counted.deleteWhile((at) => now - at >= MINUTE_MS);
  }

  close(): Promise<void> {
    return this.#handler.close();
  }
}

/** The request with `mcp-name` as the server names the tool; its body was read before. */
function inNaming(request: Request, alias: boolean): Request {
  const given = request.headers.get("mcp-name");
  const name = given === null ? null : serverToolName(given.trim(), alias);
  if (name === null || name === given) return request;
  const { url, method, signal } = request;
  const headers = new Headers(request.headers);
  headers.set("mcp-name", name);
  return new Request(url, { method, headers, signal });
}

/** Names for refusals that the MCP library words itself. */
function codeOf(status: number, rpcCode: number): string {
  if (rpcCode === -32700) return "malformed_json";
  if (rpcCode === -32022) return "unsupported_protocol_version";
  if (rpcCode === -32601) return "not_found";
  if (status === 406) return "not_acceptable";
  if (status === 413) return "body_too_large";
  if (status === 415) return "unsupported_media_type";
  return status >= 500 ? "internal_error" : "invalid_request";
}

/** Adds code and request id to a refusal of the MCP library; other answers stay as they are. */
export async function completeRefusal(response: Response, requestId: string): Promise<Response> {
  const { status } = response;
  if (status < 400 || !response.headers.get("content-type")?.includes("json")) return response;
  const body: JSONRPCErrorResponse = await response.json();
  const { error } = body;
  const data = {
    code: codeOf(status, error.code),
    request_id: requestId,
    ...(typeof error.data === "object" ? error.data : {}),
  };
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  return Response.json({ ...body, error: { ...error, data } }, { status, headers });
}
