import type { Logger, LogLevel } from "../log.ts";
import { answerChallenge, isSameSecret, TOKEN_HEADER } from "./challenge.ts";
import type { ServerExtension } from "./mcp_server.ts";
import type { SidecarLimits, SidecarOptions } from "./options.ts";

/** What a sidecar is started with; crosses a pipe as one line of JSON. */
export interface SidecarBoot {
  /** Address to listen on, `http://127.0.0.1:9000`. */
  readonly url: string;
  /** Secret shared with the relayer. */
  readonly token: string;
  /** Base address of the relayer that tool calls go to. */
  readonly relayerUrl: string;
  /** Limits of sessions. */
  readonly limits: SidecarLimits;
  /** Whether the tools of MCP conformance kits are served as well; tests only. */
  readonly fixtures: boolean;
  /** Least important lines that are logged. */
  readonly logLevel: LogLevel;
  /** Format of log lines. */
  readonly logFormat: "text" | "json";
}

/** Largest body of a challenge in bytes. */
const MAX_CHALLENGE = 1024;

const notFound = () => Response.json({ error: "Not found", code: "not_found" }, { status: 404 });

/** A nonce out of a small JSON body; `undefined` for anything else. */
async function readNonce(request: Request): Promise<string | undefined> {
  const length = request.headers.get("content-length") ?? "";
  if (!/^\d{1,4}$/.test(length) || Number(length) > MAX_CHALLENGE) return undefined;
  try {
    const body: unknown = await request.json();
    if (typeof body !== "object" || body === null || !("nonce" in body)) return undefined;
    return typeof body.nonce === "string" && /^[0-9a-f]{64}$/.test(body.nonce)
      ? body.nonce
      : undefined;
  } catch {
    return undefined;
  }
}

/** What answers the MCP routes. */
type McpHandler = (request: Request) => Promise<Response>;

/**
 * Answers the challenge, the sidecar's health for those who know the token, and the MCP routes,
 * whose handler checks the token itself.
 */
export function sidecarHandler(token: string, mcp?: McpHandler): McpHandler {
  return async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/challenge" && request.method === "POST") {
      const nonce = await readNonce(request);
      return nonce === undefined ? notFound() : new Response(answerChallenge(token, nonce));
    }
    if (mcp !== undefined && /^\/api\/mcp(\/|$)/.test(pathname)) return await mcp(request);
    if (!isSameSecret(request.headers.get(TOKEN_HEADER) ?? "", token)) return notFound();
    if (pathname === "/health" && request.method === "GET") return Response.json({ status: "ok" });
    return notFound();
  };
}

/** A sidecar that listens. */
export interface Sidecar extends AsyncDisposable {
  /** Port it listens on. */
  readonly port: number;
}

/** Tools of MCP conformance kits, which only a checkout has. */
const FIXTURES = new URL("../../tests/sidecar/conformance_fixtures.ts", import.meta.url).href;

async function loadMcp(
  { token, relayerUrl, limits, fixtures }: Pick<SidecarBoot, "token"> & Partial<SidecarBoot>,
  logger: Logger | undefined,
) {
  const { createExtendedSidecar, createSidecar } = await import("./mcp.ts");
  const options: SidecarOptions = {
    token,
    relayerUrl: relayerUrl ?? "",
    ...(limits === undefined ? {} : { limits }),
    ...(logger === undefined ? {} : { logger }),
  };
  if (!fixtures) return createSidecar(options);
  const { extension }: { readonly extension: ServerExtension } = await import(FIXTURES);
  return createExtendedSidecar(options, extension);
}

/**
 * Listens on the loopback address of the boot line. The challenge is answered at once, the MCP
 * routes when their modules are loaded; without an address of a relayer there are none.
 *
 * @throws {Deno.errors.AddrInUse} when somebody else has the port.
 */
export function startSidecar(
  boot: Pick<SidecarBoot, "url" | "token"> & Partial<SidecarBoot>,
  logger?: Logger,
): Sidecar {
  const { hostname, port } = new URL(boot.url);
  const mcp = boot.relayerUrl === undefined ? undefined : loadMcp(boot, logger);
  mcp?.catch(() => {}); // Each request tells of it.
  const handler = mcp && (async (request: Request) => await (await mcp).fetch(request));
  const server = Deno.serve(
    { hostname: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 80), onListen() {} },
    sidecarHandler(boot.token, handler),
  );
  return {
    port: server.addr.port,
    [Symbol.asyncDispose]: async () => {
      // Streams end first: the listener waits for them.
      await (await mcp?.catch(() => undefined))?.[Symbol.asyncDispose]();
      await server.shutdown();
    },
  };
}
