import { definePlugin, type Plugin } from "../../src/interfaces/plugin.ts";
import { LATER } from "../../src/later.ts";

/** Loaded later: the backends are for tests, and other starts do not load them. */
const backends = (): Promise<typeof import("./backends.ts")> => import(`./backends.ts${LATER}`);

/** Plugin `memory`: every role that has an honest default in memory. */
const plugin: Plugin = definePlugin({
  name: "memory",
  docs: "plugins.md",
  fields: {},
  roles: {
    accounts: async () => (await backends()).memoryAccounts(),
    blobStore: async () => (await backends()).memoryBlobStore(),
    cipher: async () => (await backends()).memoryCipher(),
    embedder: async () => (await backends()).memoryEmbedder(),
    vectorStore: async () => (await backends()).memoryVectorStore(),
  },
});

export default plugin;
