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

export type * from "../../chain/plugin_types.ts";
export { type EnokiOptions, enokiSponsor } from "./sponsor.ts";
export type { EnokiFields } from "./plugin.ts";
export default plugin;

/** The sponsor for `createRelayer`. */
export function enoki(settings: Partial<Values<EnokiFields>>): BackendSource {
  return pluginSource(plugin, settings);
}
