/**
 * Ollama for the roles `embedder` and `languageModel`.
 *
 * @example Usage
 * ```ts ignore
 * import { ollamaEmbedder } from "./mod.ts";
 *
 * await using embedder = await ollamaEmbedder({
 *   url: "http://127.0.0.1:11434",
 *   model: "nomic-embed-text",
 * });
 * const [windows] = await embedder.embed(["What do I like?"], { purpose: "query" });
 * ```
 *
 * @module
 */
import { type BackendSource, pluginSource, type Values } from "../../src/interfaces/plugin.ts";
import plugin, { type OllamaFields } from "./plugin.ts";

export type * from "../../src/interfaces/mod.ts";
export type * from "../../src/interfaces/plugin.ts";
export type { CircuitBreakerOptions } from "../shared/circuit_breaker.ts";
export type { GuardOptions, ModelOptions } from "../shared/models/guarded_calls.ts";
export * from "./backends.ts";
export type { OllamaFields } from "./plugin.ts";
export default plugin;

/** The roles for which a model is named, for `createRelayer`. */
export function ollama(settings: Partial<Values<OllamaFields>>): BackendSource {
  const { name, embedder, languageModel } = pluginSource(plugin, settings);
  return {
    name,
    ...(settings.embeddingModel === undefined ? {} : { embedder }),
    ...(settings.chatModel === undefined ? {} : { languageModel }),
  };
}
