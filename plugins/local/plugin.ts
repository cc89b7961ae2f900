import { definePlugin, type Plugin, requireFolder } from "../../src/interfaces/plugin.ts";
import { LATER } from "../../src/later.ts";

/** Loaded later: only the relayer opens databases. */
const backends = (): Promise<typeof import("./backends.ts")> => import(`./backends.ts${LATER}`);

/** The embedded backends by role. */
const plugin: Plugin = definePlugin({
  name: "local",
  docs: "plugins.md",
  fields: {},
  permissions: (role, _settings, dataDir) =>
    role === "cipher" ? {} : { read: [dataDir], write: [dataDir] },
  roles: {
    accounts: async (_settings, context) =>
      (await backends()).localAccounts({ dataDir: requireFolder(context, "local") }),
    blobStore: async (_settings, context) =>
      (await backends()).localBlobStore({ dataDir: requireFolder(context, "local") }),
    cipher: async (_settings, context) => (await backends()).localCipher(context),
    vectorStore: async (_settings, context) =>
      (await backends()).localVectorStore({ ...context, dataDir: requireFolder(context, "local") }),
  },
});

export default plugin;
