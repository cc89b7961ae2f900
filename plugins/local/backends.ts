export { type LocalAccounts, localAccounts, type LocalAccountsOptions } from "./accounts.ts";
export { localBlobStore, type LocalBlobStoreOptions } from "./blob_store.ts";
export { localCipher, type LocalCipherOptions } from "./cipher.ts";
export { localVectorStore, type LocalVectorStoreOptions } from "./vector_store.ts";
