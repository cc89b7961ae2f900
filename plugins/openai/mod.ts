/**
 * OpenAI and everything that speaks its protocol, for the roles `embedder` and `languageModel`.
 *
 * @example Usage
 * ```ts ignore
 * import { openaiLanguageModel } from "./mod.ts";
 *
 * await using model = await openaiLanguageModel({
 *   base: "http://127.0.0.1:1234/v1",
 *   model: "qwen3-4b",
 * });
 * const answer = await model.chat([{ role: "user", content: "Which colour has the sky?" }]);
 * ```
 *
 * @module
 */
import { type BackendSource, pluginSource, type Values } from "../../src/interfaces/plugin.ts";
import plugin, { type OpenAIFields } from "./plugin.ts";

export type * from "../../src/interfaces/mod.ts";
export type * from "../../src/interfaces/plugin.ts";
export type { CircuitBreakerOptions } from "../shared/circuit_breaker.ts";
export type { GuardOptions, ModelOptions } from "../shared/models/guarded_calls.ts";
export * from "./backends.ts";
export type { OpenAIFields } from "./plugin.ts";
export default plugin;

/** The embedder and the language model, for `createRelayer`. */
export function openai(settings: Partial<Values<OpenAIFields>> = {}): BackendSource {
  return pluginSource(plugin, settings);
}
