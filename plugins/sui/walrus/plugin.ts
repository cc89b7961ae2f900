import { definePlugin, type Plugin } from "../../../src/interfaces/plugin.ts";
import { netPermissions, WALRUS_FIELDS } from "./settings.ts";
import { LATER } from "../../../src/later.ts";

/** Both loaded later: the packages are fetched when this store is chosen. */
const opening = (): Promise<typeof import("./configured.ts")> => import(`./configured.ts${LATER}`);
const encoder = (): Promise<typeof import("./wasm_folder.ts")> =>
  import(`./wasm_folder.ts${LATER}`);

/** The plugin `walrus` for the role `blobStore`. */
const plugin: Plugin = definePlugin({
  name: "walrus",
  docs: "walrus.md",
  fields: WALRUS_FIELDS,
  permissions: async (_role, settings, dataDir) => ({
    net: netPermissions(settings),
    read: [dataDir, (await encoder()).wasmFolder()],
    write: [dataDir],
  }),
  roles: {
    blobStore: async (settings, context) => (await opening()).openConfigured(settings, context),
  },
});

export default plugin;
