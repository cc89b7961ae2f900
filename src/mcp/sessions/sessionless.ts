import { createMcpHandler, type McpHttpHandler } from "@modelcontextprotocol/server";
import { BoundedMap } from "../../bounded_map.ts";
import type { Bearer } from "../bearer.ts";
import { guardStream } from "./event_stream.ts";
import { clientIpOf, isRevoked, type SessionAdmission } from "../session_admission.ts";
import { completeRefusal } from "./library_refusal.ts";
import { buildServer, inServerNaming, type ServerSubject, serverToolName } from "../mcp_server.ts";
import { withHeader } from "../message_body.ts";
import { RecentPrincipals } from "../principal.ts";

const MINUTE_MS = 60_000;
const FIRST_KEEPALIVE_MS = 1000;
/** Credentials whose start is remembered; more than the caps let start in a minute is not needed. */
const MOST_STARTS = 100_000;

/** The revision without sessions, 2026-07-28. */
export class Sessionless {
  readonly #admission: SessionAdmission;
  readonly #principals: RecentPrincipals;
  /** Subject of each request on its way to the factory. */
  readonly #subjects = new WeakMap<Request, ServerSubject>();
  /** When credentials of an address were last counted as a start. */
  readonly #counted = new BoundedMap<string, number>(MOST_STARTS);
  readonly #handler: McpHttpHandler;

  constructor(admission: SessionAdmission) {
    this.#admission = admission;
    this.#principals = new RecentPrincipals(admission.options);
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
    this.#countStart(bearer, address);
    const principal = this.#principals.of(bearer, address);
    try {
      await principal.check();
    } catch (error) {
      if (isRevoked(error)) this.#forget(bearer, address);
      throw error;
    }
    const { aliases } = this.#admission.limits;
    const named = aliases ? inNaming(request, headers.alias) : request;
    this.#subjects.set(named, { principal, ...headers });
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
  #countStart(bearer: Bearer, address: string): void {
    const id = `${bearer.hash} ${address}`;
    const now = this.#admission.now();
    if (now - (this.#counted.get(id) ?? -Infinity) < MINUTE_MS) return;
    this.#admission.caps.countStart(address);
    this.#counted.set(id, now);
    this.#counted.deleteWhile((at) => now - at >= MINUTE_MS);
  }

  #forget(bearer: Bearer, address: string): void {
    this.#principals.forget(bearer, address);
    this.#counted.delete(`${bearer.hash} ${address}`);
  }

  close(): Promise<void> {
    return this.#handler.close();
  }
}

/** The request with `mcp-name` as the server names the tool. */
function inNaming(request: Request, alias: boolean): Request {
  const given = request.headers.get("mcp-name");
  const name = given === null ? null : serverToolName(given.trim(), alias);
  return name === null || name === given ? request : withHeader(request, "mcp-name", name);
}
