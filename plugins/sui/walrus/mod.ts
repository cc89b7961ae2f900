/**
 * Blobs on Walrus, for the role `blobStore`. See docs/walrus.md.
 *
 * @module
 */
import { type BackendSource, pluginSource } from "../../../src/interfaces/plugin.ts";
import plugin from "./plugin.ts";
import type { WalrusSettings } from "./settings.ts";

export type * from "../chain/plugin_types.ts";
export type { WalrusFields, WalrusSettings } from "./settings.ts";
export default plugin;

/** The blob store for `createRelayer`. */
export function walrus(settings: Partial<WalrusSettings>): BackendSource {
  return pluginSource(plugin, settings);
}
