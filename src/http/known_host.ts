import type { RelayerConfig } from "../interfaces/config.ts";
import { SvcError } from "../errors.ts";
import { baseUrl, hostOf, type RequestContext } from "./request_context.ts";

type HostConfig = Pick<RelayerConfig, "publicUrl" | "allowedHosts">;

/**
 * Whether a Host header names this relayer: an IP literal, `localhost`, the public host or an
 * allowed one. A page that rebinds its own name to this machine's address sends that name.
 */
export function isKnownHost(header: string, { publicUrl, allowedHosts }: HostConfig): boolean {
  const host = header.replace(/:\d+$/, "").toLowerCase();
  return host === "localhost" || /^(\[[0-9a-f:.]+\]|\d+\.\d+\.\d+\.\d+)$/.test(host) ||
    (publicUrl !== undefined && new URL(publicUrl).hostname === host) ||
    allowedHosts.includes(host) || allowedHosts.includes("*");
}

/**
 * Host and Origin of a request to an MCP route (docs/protocol.md#11).
 *
 * @throws {SvcError} `host_not_allowed`, `origin_not_allowed`.
 */
export function checkMcpSurroundings(config: RelayerConfig, { request }: RequestContext): void {
  if (!isKnownHost(hostOf(request), config)) throw new SvcError("host_not_allowed");
  const origin = request.headers.get("origin");
  if (origin === null || config.allowedOrigins.includes(origin)) return;
  if (origin !== URL.parse(baseUrl(config, request))?.origin) {
    throw new SvcError("origin_not_allowed");
  }
}
