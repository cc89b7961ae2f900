import type { WebFile } from "./files.ts";

export interface WebOptions {
  /** `{web_url}`: where browsers find it. */
  readonly webUrl: string;
  /** Base address of the relayer as browsers reach it. */
  readonly relayerUrl: string;
  /** Whether the relayer is the registry of accounts, or a chain is. */
  readonly accounts: "local" | "chain";
  /** Node of the chain as browsers reach it; absent where the relayer keeps the accounts. */
  readonly rpcUrl?: string;
  readonly version: string;
  readonly files: ReadonlyMap<string, WebFile>;
}

/** Addresses that show the one page; its script tells them apart. */
const PAGES = new Set([
  "/",
  "/connect/mcp",
  "/connect/app",
  "/memory",
  "/open",
  "/memories",
  "/apps",
  "/activity",
  "/account",
]);

const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/;

/**
 * What the page may do: its own files, the relayer, the listeners of logins on this machine, and
 * the chain's node where accounts are there.
 * No inline code, no frame around it, no form that leaves it.
 */
function contentSecurityPolicy(relayerUrl: string, rpcUrl?: string): string {
  const relayer = new URL(relayerUrl).origin;
  const node = rpcUrl === undefined ? "" : ` ${new URL(rpcUrl).origin}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self' ${relayer}${node} http://127.0.0.1:*`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** Whether a Host header names this dashboard: a page that rebinds its own name sends that one. */
function isKnownHost(host: string, webUrl: string): boolean {
  return LOOPBACK_HOST.test(host) || host === new URL(webUrl).host;
}

/**
 * Where a browser should be instead. Keys and the relayer's permission belong to one origin, so
 * `127.0.0.1` is sent to `localhost`, or the other way round.
 */
function betterPlace(
  url: URL,
  host: string,
  webUrl: string,
): string | undefined {
  const web = new URL(webUrl);
  if (host === web.host || !LOOPBACK_HOST.test(web.host)) return undefined;
  return web.origin + url.pathname + url.search;
}

function headersOf({ relayerUrl, rpcUrl }: WebOptions, type: string): Headers {
  return new Headers({
    "content-type": type,
    "content-security-policy": contentSecurityPolicy(relayerUrl, rpcUrl),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    // Web wallets answer from a window of their own.
    "cross-origin-opener-policy": "same-origin-allow-popups",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-cache",
    "vary": "accept-encoding",
  });
}

function plain(options: WebOptions, status: number, text: string): Response {
  const headers = headersOf(options, "text/plain; charset=utf-8");
  if (status === 405) headers.set("allow", "GET, HEAD");
  return new Response(text, { status, headers });
}

function send(request: Request, file: WebFile, options: WebOptions): Response {
  const headers = headersOf(options, file.type);
  headers.set("etag", file.tag);
  if (request.headers.get("if-none-match") === file.tag) {
    return new Response(null, { status: 304, headers });
  }
  const accepted = request.headers.get("accept-encoding") ?? "";
  const zipped = /\bgzip\b/.test(accepted) ? file.gzip : undefined;
  if (zipped !== undefined) headers.set("content-encoding", "gzip");
  const body = zipped ?? file.bytes;
  headers.set("content-length", String(body.length));
  return new Response(request.method === "HEAD" ? null : body, { headers });
}

/** Answers one request of a browser; nothing here holds data of anybody. */
export function answerWeb(request: Request, options: WebOptions): Response {
  // A port beyond 65535 makes an address that cannot be parsed.
  const url = URL.parse(request.url);
  // HTTP/2 has the host in the address, without a header.
  const host = (request.headers.get("host") ?? url?.host ?? "").toLowerCase();
  if (url === null || !isKnownHost(host, options.webUrl)) {
    return plain(options, 403, "Unknown host\n");
  }
  if (request.method !== "GET" && request.method !== "HEAD") {
    return plain(options, 405, "Only GET and HEAD\n");
  }
  const better = betterPlace(url, host, options.webUrl);
  if (better !== undefined) {
    const headers = headersOf(options, "text/plain; charset=utf-8");
    headers.set("location", better);
    return new Response(null, { status: 307, headers });
  }
  if (url.pathname === "/config.json") {
    const { relayerUrl, webUrl, accounts, rpcUrl, version } = options;
    const headers = headersOf(options, "application/json");
    headers.set("cache-control", "no-store");
    return new Response(
      JSON.stringify({ relayerUrl, webUrl, accounts, rpcUrl, version }),
      { headers },
    );
  }
  const name = PAGES.has(url.pathname) ? "index.html" : url.pathname.slice(1);
  const file = options.files.get(name);
  return file === undefined
    ? plain(options, 404, "There is no such page\n")
    : send(request, file, options);
}
