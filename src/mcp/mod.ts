/**
 * MCP for a relayer, in the process of whoever embeds it.
 *
 * {@linkcode createSidecar} answers the MCP routes: every revision of the protocol on one endpoint,
 * with tools that sign ordinary requests to the relayer in the name of the caller.
 *
 * @module
 */
export type { LogFields, Logger } from "../log.ts";
export { type AskerInfo, createSidecar, type Sidecar } from "./mcp.ts";
export {
  DEFAULT_SIDECAR_LIMITS,
  type SidecarLimits,
  type SidecarOptions,
  type SidecarStats,
} from "./options.ts";
