/**
 * Private, portable memory for AI agents: a relayer that embeds, encrypts, stores and indexes short
 * facts, and finds them again by meaning.
 *
 * {@linkcode createRelayer} wires backends into a relayer whose `fetch` answers requests. Nothing
 * here reads the environment or the arguments.
 *
 * @module
 */
export type {
  ConflictPolicy,
  DispatchConfig,
  RateLimitConfig,
  RelayerConfig,
  SecretsRule,
  SponsorConfig,
} from "./src/interfaces/config.ts";
export * from "./src/errors.ts";
export type { DependencyHealth } from "./src/http/health.ts";
export { guarded, type RowsChange, type VectorRows } from "./src/interfaces/guarded.ts";
export type * from "./src/interfaces/mod.ts";
export {
  createLogger,
  type LogFields,
  type Logger,
  type LoggerOptions,
  type LogLevel,
} from "./src/log.ts";
export * from "./src/interfaces/plugin.ts";
export type { PublicNetwork } from "./src/interfaces/public_network.ts";
export { keyFile } from "./src/sealing/key_file.ts";
export { createRelayer, type Relayer, type RelayerOptions } from "./src/relayer.ts";
export type { ListenerInfo } from "./src/embed/relayer_options.ts";
export type { SidecarAddress } from "./src/http1/sidecar_connections.ts";
export type { SidecarLimits } from "./src/mcp/options.ts";
export {
  type SpawnedSidecar,
  type SpawnedSponsor,
  spawnSidecar,
  type SpawnSidecarOptions,
} from "./src/program/spawn_sidecar.ts";
