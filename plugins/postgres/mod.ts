/**
 * Accounts, data keys, blobs and index in a PostgreSQL database, which several relayers may use.
 *
 * @module
 */
import { type BackendSource, pluginSource, type Values } from "../../src/interfaces/plugin.ts";
import plugin, { type PostgresFields } from "./plugin.ts";

export type * from "../../src/interfaces/mod.ts";
export type * from "../../src/interfaces/plugin.ts";
export type { DatabaseAddress, Encryption } from "./settings.ts";
export { parseAddress } from "./settings.ts";
export * from "./backends.ts";
export type { PostgresFields } from "./plugin.ts";
export default plugin;

/** Accounts, data keys, blobs and index for `createRelayer`. */
export function postgres(settings: Partial<Values<PostgresFields>> = {}): BackendSource {
  return pluginSource(plugin, settings);
}
