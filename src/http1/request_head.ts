import { WireHeaders } from "./wire_headers.ts";

/** Longest request line, bytes. */
export const MAX_REQUEST_LINE = 8192;
/** Most headers of a request. */
const MAX_HEADERS = 100;
const REQUEST_LINE = /^([A-Z][A-Z-]{0,31}) ([\x21-\x7e]+) HTTP\/1\.([01])$/;
const ABSOLUTE = /^https?:\/\/([^/?#]*)(\/.*)?$/i;
/** A name or an address, and a port. */
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i;
/** Methods that a `Request` of the platform cannot have. */
const UNKNOWN_METHODS = ["CONNECT", "TRACE", "TRACK"];

/** What the head of a request says. */
export interface RequestHead {
  readonly method: string;
  /** Path and query as they came. */
  readonly target: string;
  /** The only Host header. */
  readonly host: string;
  readonly headers: WireHeaders;
  /** Length of the body, bytes; `undefined` for one in chunks. */
  readonly length: number | undefined;
  /** Whether it is a request of HTTP/1.0. */
  readonly isOld: boolean;
  /** Whether another request may follow on the connection. */
  readonly isKept: boolean;
  /** Whether the client wants to be asked for the body. */
  readonly expectsContinue: boolean;
}

/** Why a head is refused, as a status. */
export type Refusal = 400 | 414 | 417 | 501;

/**
 * Reads a head strictly: what two servers could read in two ways is refused, so that nothing can be
 * smuggled past one of them.
 *
 * @param head Without the empty line at its end.
 */
export function parseHead(head: string): RequestHead | Refusal {
  const [first = "", ...lines] = head.split("\r\n");
  if (first.length > MAX_REQUEST_LINE) return 414;
  const [, method = "", form = "", minor] = REQUEST_LINE.exec(first) ?? [];
  const headers = headersOf(lines);
  if (method === "" || headers === undefined) return 400;
  const isOld = minor === "0";
  // Headers that came twice are joined by a comma, which none of these may hold.
  const host = headers.get("host") ?? "";
  const target = targetOf(form, host);
  const length = lengthOf(headers, isOld);
  if (!HOST.test(host) || target === undefined || length === null) return 400;
  if (UNKNOWN_METHODS.includes(method)) return 501;
  const expected = isOld ? null : headers.get("expect");
  if (expected !== null && expected.toLowerCase() !== "100-continue") return 417;
  const isKept = !isOld && !/(^|[ ,])close([ ,]|$)/i.test(headers.get("connection") ?? "");
  const expectsContinue = expected !== null && length !== 0;
  return { method, target, host, headers, length, isOld, isKept, expectsContinue };
}

function headersOf(lines: readonly string[]): WireHeaders | undefined {
  if (lines.length > MAX_HEADERS) return undefined;
  try {
    return WireHeaders.parse(lines);
  } catch {
    return undefined;
  }
}

/** The path and query; `undefined` for what is none, or names another host than the header does. */
function targetOf(form: string, host: string): string | undefined {
  if (form.startsWith("/")) return form;
  const [, authority, path = "/"] = ABSOLUTE.exec(form) ?? [];
  return authority?.toLowerCase() === host.toLowerCase() ? path : undefined;
}

/** Length of the body; `undefined` for chunks, `null` when the head does not say it clearly. */
function lengthOf(headers: WireHeaders, isOld: boolean): number | undefined | null {
  const length = headers.get("content-length");
  const coding = headers.get("transfer-encoding");
  if (coding !== null) {
    return coding.toLowerCase() === "chunked" && length === null && !isOld ? undefined : null;
  }
  if (length === null) return 0;
  return /^\d{1,15}$/.test(length) ? Number(length) : null;
}
