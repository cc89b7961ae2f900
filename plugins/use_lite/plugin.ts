import { definePlugin, type Plugin } from "../../src/interfaces/plugin.ts";
import { LATER } from "../../src/later.ts";

/** Both loaded later: the weights are fetched when this embedder is chosen. */
const opening = (): Promise<typeof import("./open.ts")> => import(`./open.ts${LATER}`);
const folders = (): Promise<typeof import("./folders.ts")> => import(`./folders.ts${LATER}`);

/** The plugin `use-lite` for the role `embedder`. */
const plugin: Plugin = definePlugin({
  name: "use-lite",
  docs: "plugins.md",
  fields: {},
  async permissions(role) {
    if (role !== "embedder") return {};
    return {
      read: (await folders()).pathsToRead(),
      ...(Deno.build.os === "linux" ? { sys: ["getPriority", "setPriority"] } : {}),
    };
  },
  roles: { embedder: async () => (await opening()).useLiteEmbedder() },
});

export default plugin;
