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
import { definePlugin, type Plugin } from "../src/plugin.ts";
import { memoryAccounts } from "./memory/accounts.ts";
import { memoryBlobStore } from "./memory/blob_store.ts";
import { memoryCipher } from "./memory/cipher.ts";
import { memoryEmbedder } from "./memory/embedder.ts";
import { memoryVectorStore } from "./memory/vector_store.ts";

export * from "./memory/accounts.ts";
export * from "./memory/backends.ts";
export * from "./memory/blob_store.ts";
export * from "./memory/cipher.ts";
export * from "./memory/embedder.ts";
export * from "./memory/language_model.ts";
export * from "./memory/sponsor.ts";
export * from "./memory/vector_store.ts";

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
