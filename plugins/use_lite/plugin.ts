import { definePlugin, type Plugin } from "../../src/interfaces/plugin.ts";

/** Neither is a literal in an import: the weights are fetched when this embedder is chosen. */
const opening = (): Promise<typeof import("./open.ts")> =>
  import(new URL("./open.ts", import.meta.url).href);
const folders = (): Promise<typeof import("./folders.ts")> =>
  import(new URL("./folders.ts", import.meta.url).href);

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
