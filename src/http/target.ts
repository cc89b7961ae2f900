import { SvcError } from "../errors.ts";

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i;

/** The request target as received: percent-encoding untouched, nothing normalised. */
export interface Target {
  /** Path, from its first slash. */
  readonly path: string;
  /** Query with its question mark; empty when there is none. */
  readonly query: string;
}

/**
 * Takes the target from the address that `Deno.serve` builds as `http://{host}{target}`. The parsed
 * `URL` would not do: it resolves dot segments and re-encodes.
 *
 * @throws {SvcError} `host_not_allowed` for a malformed Host, `not_found` for a target that is no
 * path.
 */
export function targetOf(request: Request): Target {
  const { url } = request;
  const host = request.headers.get("host");
  if (host !== null && !HOST.test(host)) throw new SvcError("host_not_allowed");
  const start = url.indexOf("/", url.indexOf("://") + 3);
  if (start < 0) return { path: "/", query: "" };
  const target = url.slice(start);
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
