/**
 * Sponsored transactions, paid for by a wallet of one's own on the Sui chain.
 *
 * @module
 */
import {
  type BackendSource,
  pluginSource,
  type Values,
} from "../../../../src/interfaces/plugin.ts";
import plugin, { type GasStationFields } from "./plugin.ts";

export type * from "../../chain/plugin_types.ts";
export type { GasStationFields } from "./plugin.ts";
export default plugin;

/** The sponsor for `createRelayer`. */
export function gasStation(settings: Partial<Values<GasStationFields>>): BackendSource {
  return pluginSource(plugin, settings);
}
