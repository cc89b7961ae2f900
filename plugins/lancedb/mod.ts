/**
 * Index rows in a LanceDB table.
 *
 * @module
 */
import { type BackendSource, pluginSource, type Values } from "../../src/interfaces/plugin.ts";
import plugin, { type LancedbFields } from "./plugin.ts";

export type * from "../../src/interfaces/mod.ts";
export type * from "../../src/interfaces/plugin.ts";
export type { FlushPolicy } from "./flusher.ts";
export type { LancedbFields } from "./plugin.ts";
export { type LancedbOptions, lancedbVectorStore } from "./vector_store.ts";
export default plugin;

/** The vector store for `createRelayer`. */
export function lancedb(settings: Partial<Values<LancedbFields>> = {}): BackendSource {
  return pluginSource(plugin, settings);
}
