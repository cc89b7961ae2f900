import { pathToFileURL } from "node:url";
import { errorFields, type Logger, type LogLevel } from "../log.ts";
import { proving } from "../http1/mutual_proof.ts";
import type { Answer } from "../http1/served_connection.ts";
import { connectProven } from "../http1/sidecar_connections.ts";
import { INTERNAL_LIMITS, listenHttp } from "../http1/http_listener.ts";
import { importModule } from "../later.ts";
import { loopbackFetch } from "../http1/loopback_fetch.ts";
import type { Sidecar as McpSidecar } from "./mcp.ts";
import { requestParent, traced } from "../tracing.ts";
import type { ServerExtension } from "./mcp_server.ts";
import type { SidecarLimits, SidecarOptions } from "./options.ts";
import {
  answerSponsor,
  isSponsorPath,
  type PayingBackend,
  type SponsorRoutes,
} from "../sponsor/sidecar_end.ts";

/** Who pays for sponsored transactions, and with what settings. */
export interface SponsorBoot {
  /** Name, path or import specifier of the plugin. */
  readonly name: string;
  /** The variables it reads its settings from. */
  readonly env: Readonly<Record<string, string>>;
}

/** What a sidecar is started with; crosses a pipe as one line of JSON. */
export interface SidecarBoot {
  /** Address to listen on, `http://127.0.0.1:9000`. */
  readonly url: string;
  /** Secret shared with the relayer. */
  readonly token: string;
  /** Base address of the relayer that tool calls go to. */
  readonly relayerUrl: string;
  /** Whether the relayer proves itself there, and believes which client a call is for. */
  readonly isInternal: boolean;
  readonly limits: SidecarLimits;
  /** What the relayer is called among several; absent where there is one. */
  readonly name?: string;
  /** Where people find their dashboard; absent where there is none. */
  readonly webUrl?: string;
  /** Path of a module that adds the fixtures of MCP conformance kits; tests only. */
  readonly fixtures?: string;
  /** Who pays for sponsored transactions; absent when nobody does. */
  readonly sponsor?: SponsorBoot;
  readonly logLevel: LogLevel;
  readonly logFormat: "text" | "json";
}

const notFound = () => Response.json({ error: "Not found", code: "not_found" }, { status: 404 });

/** Health, with the open sessions by transport where there are MCP routes. */
async function healthOf(mcp: Promise<McpSidecar> | undefined): Promise<Response> {
  try {
    const stats = (await mcp)?.stats();
    const sessions = stats && { sse: stats.sse, streamable: stats.streamable };
    return Response.json({ status: "ok", sessions });
  } catch {
    // Their modules cannot be loaded: each request tells of it.
    return Response.json({ status: "down" }, { status: 503 });
  }
}

/** Answers the relayer: the MCP routes, the sponsor routes and its health. Others get nothing. */
export function sidecarHandler(
  token: string,
  mcp?: Promise<McpSidecar>,
  sponsor?: SponsorRoutes,
): Answer {
  return proving({ token, listens: "sidecar" }, async (request, { isProven }) => {
    if (!isProven) return notFound();
    const { pathname } = new URL(request.url);
    const options = { kind: "server", parent: requestParent(request.headers) } as const;
    return await traced("sidecar request", options, () => answerRelayer(request, pathname));
  });
  async function answerRelayer(request: Request, pathname: string): Promise<Response> {
    if (mcp && /^\/api\/mcp(\/|$)/.test(pathname)) {
      return await (await mcp).fetch(request, { isProven: true });
    }
    if (sponsor !== undefined && isSponsorPath(pathname)) {
      return await answerSponsor(request, sponsor);
    }
    if (pathname === "/health" && request.method === "GET") return await healthOf(mcp);
    return notFound();
  }
}

export interface Sidecar extends AsyncDisposable {
  readonly port: number;
}

/** MCP whose tools call the relayer of a boot line. */
async function loadMcp(
  boot: Pick<SidecarBoot, "token"> & Partial<SidecarBoot>,
  relayerUrl: string,
  calls: NonNullable<SidecarOptions["fetch"]>,
  logger: Logger | undefined,
): Promise<McpSidecar> {
  const { createExtendedSidecar } = await import("./mcp.ts");
  const { token, limits, name, webUrl, fixtures } = boot;
  const options: SidecarOptions = {
    token,
    relayerUrl,
    fetch: calls,
    ...(limits === undefined ? {} : { limits }),
    ...(name === undefined ? {} : { name }),
    ...(webUrl === undefined ? {} : { webUrl }),
    ...(logger === undefined ? {} : { logger }),
  };
  const added: { readonly extension?: ServerExtension } = fixtures === undefined
    ? {}
    : await importModule(pathToFileURL(fixtures).href);
  return createExtendedSidecar(options, added.extension);
}

function sponsorRoutes(backend: Promise<PayingBackend>, logger: Logger | undefined): SponsorRoutes {
  return {
    backend,
    onFailure({ code, cause }) {
      const { error, at } = errorFields(cause);
      logger?.error("sponsor request failed", { code, error, at });
    },
  };
}

/**
 * Listens on the loopback address of the boot line. Proofs are answered at once, the MCP
 * routes when their modules are loaded; without an address of a relayer there are none.
 *
 * @param sponsor who pays for sponsored transactions; the caller disposes of it.
 * @throws {Deno.errors.AddrInUse} when somebody else has the port.
 */
export function startSidecar(
  boot: Pick<SidecarBoot, "url" | "token"> & Partial<SidecarBoot>,
  logger?: Logger,
  sponsor?: Promise<PayingBackend>,
): Sidecar {
  const { hostname, port } = new URL(boot.url);
  const { relayerUrl, token } = boot;
  const connect = () => connectProven(relayerUrl!, { token, listens: "relayer" });
  const calls = relayerUrl === undefined
    ? undefined
    : loopbackFetch(relayerUrl, boot.isInternal === true ? connect : undefined);
  const mcp = calls && loadMcp(boot, relayerUrl!, calls, logger);
  mcp?.catch(() => {}); // Each request tells of it.
  sponsor?.catch(() => {});
  const server = listenHttp({
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port || 80),
    answer: sidecarHandler(token, mcp, sponsor && sponsorRoutes(sponsor, logger)),
    limits: INTERNAL_LIMITS,
    onError(thrown) {
      const { error, at } = errorFields(thrown);
      logger?.error("sidecar request failed", { error, at });
    },
  });
  return {
    port: server.port,
    [Symbol.asyncDispose]: async () => {
      // Streams end first: the listener waits for them.
      await (await mcp?.catch(() => undefined))?.[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      calls?.[Symbol.dispose]();
    },
  };
}
