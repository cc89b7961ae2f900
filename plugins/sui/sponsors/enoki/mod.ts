/**
 * Sponsored transactions, paid for by Mysten's Enoki.
 *
 * @module
 */
import {
  type BackendSource,
  pluginSource,
  type Values,
} from "../../../../src/interfaces/plugin.ts";
import plugin, { type EnokiFields } from "./plugin.ts";

export type * from "../../../../src/interfaces/mod.ts";
export type * from "../../../../src/interfaces/plugin.ts";
export type { SuiNetwork } from "../../../../src/wire/networks.ts";
export { type EnokiOptions, enokiSponsor } from "./sponsor.ts";
export type { EnokiFields } from "./plugin.ts";
export default plugin;

/** The sponsor for `createRelayer`. */
export function enoki(settings: Partial<Values<EnokiFields>>): BackendSource {
  return pluginSource(plugin, settings);
}
