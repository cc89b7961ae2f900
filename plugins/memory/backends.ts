import type { Backends } from "../../src/interfaces/mod.ts";
import { memoryAccounts } from "./accounts.ts";
import { memoryBlobStore } from "./blob_store.ts";
import { memoryCipher } from "./cipher.ts";
import { memoryEmbedder } from "./embedder.ts";
import { memoryVectorStore } from "./vector_store.ts";

export * from "./accounts.ts";
export * from "./blob_store.ts";
export * from "./cipher.ts";
export * from "./embedder.ts";
export * from "./language_model.ts";
export * from "./sponsor.ts";
export * from "./vector_store.ts";

/** One backend of each role a relayer needs, all of them in memory. */
export function memoryBackends(): Backends {
  return {
    accounts: memoryAccounts(),
    blobStore: memoryBlobStore(),
    cipher: memoryCipher(),
    embedder: memoryEmbedder(),
    vectorStore: memoryVectorStore(),
  };
}
