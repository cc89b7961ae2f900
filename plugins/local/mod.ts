/**
 * The embedded backends: accounts, blobs, keys and index in SQLite files of the data directory.
 *
 * @module
 */
import {
  type BackendSource,
  definePlugin,
  type Plugin,
  pluginSource,
  requireFolder,
} from "../../src/interfaces/plugin.ts";
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
const plugin: Plugin<LocalFields> = definePlugin<LocalFields>({
  name: "local",
  fields: {},
  permissions: (role, _settings, dataDir) =>
    role === "cipher" ? {} : { read: [dataDir], write: [dataDir] },
  roles: {
    accounts: (_settings, context) => localAccounts({ dataDir: requireFolder(context, "local") }),
    blobStore: (_settings, context) => localBlobStore({ dataDir: requireFolder(context, "local") }),
    cipher: (_settings, context) => localCipher(context),
    vectorStore: (_settings, context) =>
      localVectorStore({ ...context, dataDir: requireFolder(context, "local") }),
  },
});
export default plugin;

/** Accounts, blobs, keys and index for `createRelayer`. */
export function local(): BackendSource {
  return pluginSource(plugin);
}
