/**
 * The embedded backends: accounts, blobs, keys and index in SQLite files of the data directory.
 *
 * @module
 */
import { definePlugin, type Plugin } from "../../src/interfaces/plugin.ts";
import { localAccounts } from "./accounts.ts";
import { localBlobStore } from "./blob_store.ts";
import { localCipher } from "./cipher.ts";
import { localVectorStore } from "./vector_store.ts";

export { type LocalAccounts, localAccounts, type LocalAccountsOptions } from "./accounts.ts";
export { localBlobStore, type LocalBlobStoreOptions } from "./blob_store.ts";
export { localCipher, type LocalCipherOptions } from "./cipher.ts";
export { localVectorStore, type LocalVectorStoreOptions } from "./vector_store.ts";

/** Settings of the plugin: none. */
export type LocalFields = Record<never, never>;

/** The embedded backends by role. */
const local: Plugin<LocalFields> = definePlugin<LocalFields>({
  name: "local",
  fields: {},
  permissions: (role, _settings, dataDir) =>
    role === "cipher" ? {} : { read: [dataDir], write: [dataDir] },
  roles: {
    accounts: (_settings, { dataDir }) => localAccounts({ dataDir }),
    blobStore: (_settings, { dataDir }) => localBlobStore({ dataDir }),
    cipher: (_settings, { sealer, keys }) => localCipher({ sealer: sealer("local-cipher"), keys }),
    vectorStore: (_settings, { dataDir, dimensions, model, sealer }) =>
      localVectorStore({ dataDir, dimensions, model, sealer: sealer("local-index") }),
  },
});
export default local;
