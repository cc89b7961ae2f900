/**
 * Reference backends that keep nothing on disk: for development, for tests, and to compare other
 * backends with.
 *
 * The roles `languageModel` and `sponsor` cannot be chosen in the configuration: what they say and
 * who pays comes from the function given to {@linkcode memoryLanguageModel} and
 * {@linkcode memorySponsor}.
 *
 * @module
 */
import { type BackendSource, pluginSource } from "../../src/interfaces/plugin.ts";
import plugin from "./plugin.ts";

export * from "./backends.ts";
export * from "./job_store.ts";
export * from "./state_store.ts";
export default plugin;

/** Every role but `languageModel` and `sponsor`, for `createRelayer`. */
export function memory(): BackendSource {
  return pluginSource(plugin);
}
