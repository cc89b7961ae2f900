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
import {
  type BackendSource,
  definePlugin,
  type Plugin,
  pluginSource,
} from "../../src/interfaces/plugin.ts";
import { memoryAccounts } from "./accounts.ts";
import { memoryBlobStore } from "./blob_store.ts";
import { memoryCipher } from "./cipher.ts";
import { memoryEmbedder } from "./embedder.ts";
import { memoryVectorStore } from "./vector_store.ts";

export * from "./accounts.ts";
export * from "./backends.ts";
export * from "./blob_store.ts";
export * from "./cipher.ts";
export * from "./embedder.ts";
export * from "./language_model.ts";
export * from "./sponsor.ts";
export * from "./vector_store.ts";

/** Plugin `memory`: every role that has an honest default in memory. */
const plugin: Plugin = definePlugin({
  name: "memory",
  fields: {},
  roles: {
    accounts: () => memoryAccounts(),
    blobStore: () => memoryBlobStore(),
    cipher: () => memoryCipher(),
    embedder: () => memoryEmbedder(),
    vectorStore: () => memoryVectorStore(),
  },
});

export default plugin;

/** Every role but `languageModel` and `sponsor`, for `createRelayer`. */
export function memory(): BackendSource {
  return pluginSource(plugin);
}
