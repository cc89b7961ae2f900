/**
 * Accounts on the Sui chain, for the role `accounts`: the keys that may sign are those that the
 * owner's account object lists on chain. Reads by gRPC only.
 *
 * @module
 */
import { type BackendSource, pluginSource, type Values } from "../../../src/interfaces/plugin.ts";
import type { ChainFields } from "../../../src/interfaces/shared_fields.ts";
import plugin from "./plugin.ts";

export type * from "../chain/plugin_types.ts";
export type { ChainFields } from "../../../src/interfaces/shared_fields.ts";
export * from "./open.ts";
export default plugin;

/** Accounts on chain, for `createRelayer`. */
export function sui(settings: Partial<Values<ChainFields>>): BackendSource {
  return pluginSource(plugin, settings);
}
