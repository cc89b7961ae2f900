/**
 * The embedded backends: accounts, blobs, keys and index in SQLite files of the data directory.
 *
 * @module
 */
import { type BackendSource, pluginSource } from "../../src/interfaces/plugin.ts";
import plugin from "./plugin.ts";

export * from "./backends.ts";
export default plugin;

/** Accounts, blobs, keys and index for `createRelayer`. */
export function local(): BackendSource {
  return pluginSource(plugin);
}
