import { SvcError } from "../errors.ts";
import { isTooDeep } from "../wire/body/read_body.ts";
import { inRanges, isAddress } from "../wire/ip_addresses.ts";
import { REQUEST_ID_CHARACTERS } from "../wire/limits.ts";

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i;

/** The request target as received: percent-encoding untouched, nothing normalised. */
export interface Target {
  /** Path, from its first slash. */
  readonly path: string;
  /** Query with its question mark; empty when there is none. */
  readonly query: string;
}

/**
 * The target as it came, where the listener tells it; else out of the address that `Deno.serve`
 * builds as `http://{host}{target}`. The parsed `URL` would not do: it resolves dot segments and
 * re-encodes.
 *
 * @throws {SvcError} `host_not_allowed` for a malformed Host, `not_found` for a target that is no
 * path.
 */
export function targetOf(request: Request, given?: string): Target {
  const { url } = request;
  const host = request.headers.get("host");
  if (host !== null && !HOST.test(host)) throw new SvcError("host_not_allowed");
  const start = url.indexOf("/", url.indexOf("://") + 3);
  if (given === undefined && start < 0) return { path: "/", query: "" };
  const target = given ?? url.slice(start);
  const question = target.indexOf("?");
  return question < 0
    ? { path: target, query: "" }
    : { path: target.slice(0, question), query: target.slice(question) };
}

/** Stands for bytes that are not UTF-8; no rule of a member accepts it. */
const NO_TEXT = "\ud800";

function decoded(part: string): string {
  return part.replaceAll("+", " ").replace(/(?:%[\da-f]{2})+/gi, (bytes) => {
    try {
      return decodeURIComponent(bytes);
    } catch {
      return NO_TEXT;
    }
  });
}

/**
 * Members of a query; of a repeated one the first counts. `URLSearchParams` would not do: it makes
 * U+FFFD of bytes that are no UTF-8, and so names another value than was sent.
 */
export function queryOf({ query }: Target): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (const part of query.slice(1).split("&")) {
    const [name = "", ...rest] = part.split("=");
    const key = decoded(name);
    if (!members.has(key)) members.set(key, decoded(rest.join("=")));
  }
  return members;
}

/** What every step of a request's way needs. */
export interface RequestContext {
  readonly request: Request;
  readonly target: Target;
  /** Id in header, body and log. */
  readonly requestId: string;
  /** Address of the socket's peer; empty when the request came in process. */
  readonly peer: string;
  readonly clientIp: string;
  /** Whether it comes from this program itself: over the internal listener, or in the process. */
  readonly isInternal: boolean;
}

/** Host and port as the client names them: HTTP/2 has them in the address, without a header. */
export function hostOf(request: Request): string {
  return request.headers.get("host") ?? URL.parse(request.url)?.host ?? "";
}

const REQUEST_ID = /^[A-Za-z0-9:._-]+$/;

/** The caller's request id when it is well formed, else a new one. */
export function requestIdOf(headers: Headers): string {
  for (const name of ["x-request-id", "x-correlation-id"]) {
    const id = headers.get(name);
    if (id !== null && id.length <= REQUEST_ID_CHARACTERS && REQUEST_ID.test(id)) return id;
  }
  return crypto.randomUUID();
}

/** Headers by which proxies name the client they ask for, those of common vendors too. */
const FORWARDING = /forwarded|-(client)?ip(v6)?$|^(via|cdn-loop|x-envoy-external-address)$/;

/** Whether a proxy says that it asks for somebody else. */
export function isForwarded(headers: Headers): boolean {
  return [...headers.keys()].some((name) => FORWARDING.test(name));
}

/** An entry of `X-Forwarded-For`: some proxies write the port behind the address. */
function addressOf(hop: string): string {
  const text = hop.trim();
  return /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
}

/**
 * Address of the client. A trusted proxy names it: the rightmost entry of `X-Forwarded-For` that is
 * not itself a trusted proxy. Else it is the socket's peer.
 */
export function clientIp(
  peer: string,
  forwardedFor: string | null,
  trustedProxies: readonly string[],
): string {
  if (forwardedFor === null || !inRanges(peer, trustedProxies)) return peer;
  for (const hop of forwardedFor.split(",").map(addressOf).reverse()) {
    if (!isAddress(hop)) return peer;
    if (!inRanges(hop, trustedProxies)) return hop;
  }
  return peer;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * A JSON text. Of equal members the last one counts.
 *
 * @throws {SvcError} `malformed_json` when it is none, not UTF-8, or nested deeper than 64.
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (isTooDeep(bytes)) throw new SvcError("malformed_json", "The body is nested too deeply");
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    // Without the cause: the parser's message quotes the body.
    throw new SvcError("malformed_json");
  }
}

/**
 * A body as text.
 *
 * @throws {SvcError} `malformed_json` when it is not UTF-8.
 */
export function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new SvcError("malformed_json", "The body is not UTF-8");
  }
}

/** Media type of most bodies. */
export const JSON_TYPE = "application/json";
/** Media type of forms. */
export const FORM_TYPE = "application/x-www-form-urlencoded";
/** Media type of exports and imports: a JSON object on each line. */
export const LINES_TYPE = "application/x-ndjson";

/**
 * Lets a body through that says it is of a type and uncompressed.
 *
 * @throws {SvcError} `unsupported_media_type`.
 */
export function checkTypeHeaders(headers: Headers, wanted = JSON_TYPE): void {
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  const encoding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (type !== wanted || encoding !== "identity") {
    throw new SvcError("unsupported_media_type");
  }
}

/** Decodes a path parameter; malformed percent-encoding stays as sent, and matches nothing. */
export function decodedId(id: string): string {
  if (!id.includes("%")) return id;
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
