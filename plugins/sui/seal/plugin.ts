import { fileURLToPath } from "node:url";
import { definePlugin, type Plugin } from "../../../src/interfaces/plugin.ts";
import { netPermissions, SEAL_FIELDS } from "./settings.ts";
import { LATER } from "../../../src/later.ts";

/** Loaded later: the packages are fetched when this cipher is chosen. */
const opening = (): Promise<typeof import("./open.ts")> => import(`./open.ts${LATER}`);

/** Paths that the worker is loaded from, where they are on disk. */
function sources(): string[] {
  return ["../../", "../../../src/"].map((folder) => new URL(folder, import.meta.url))
    .filter(({ protocol }) => protocol === "file:")
    .map((folder) => fileURLToPath(folder).replace(/[/\\]$/, ""));
}

/** The plugin `seal` for the role `cipher`. */
const plugin: Plugin = definePlugin({
  name: "seal",
  docs: "seal.md",
  fields: SEAL_FIELDS,
  permissions: (role, settings) =>
    role === "cipher" ? { net: netPermissions(settings), read: sources() } : {},
  roles: {
    cipher: async (settings, context) => (await opening()).openSealCipher(settings, context),
  },
});

export default plugin;
