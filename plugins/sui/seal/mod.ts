/**
 * Encryption under a threshold of Seal key servers: the relayer opens a memory only with the
 * credential of somebody whom the account on chain lets read. See docs/seal.md.
 *
 * @module
 */
import { type BackendSource, pluginSource } from "../../../src/interfaces/plugin.ts";
import plugin from "./plugin.ts";
import type { SealSettings } from "./settings.ts";

export type * from "../chain/plugin_types.ts";
export type { KeyServer, KeyWorkOptions } from "./calls.ts";
export { sealCipher, type SealOptions } from "./open.ts";
export type { SealFields, SealSettings } from "./settings.ts";
export default plugin;

/** The cipher for `createRelayer`. */
export function seal(settings: Partial<SealSettings>): BackendSource {
  return pluginSource(plugin, settings);
}
