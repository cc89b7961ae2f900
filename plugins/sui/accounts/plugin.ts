import { SvcError } from "../../../src/errors.ts";
import { definePlugin, type Plugin } from "../../../src/interfaces/plugin.ts";
import { CHAIN_FIELDS, type ChainFields } from "../../../src/interfaces/shared_fields.ts";
import { rpcUrlOf } from "../../../src/wire/networks.ts";
import { netEntry } from "../../../src/wire/net_entry.ts";
import { LATER } from "../../../src/later.ts";

/** Loaded later: the packages of the chain are fetched when accounts are on it. */
const opening = (): Promise<typeof import("./open.ts")> => import(`./open.ts${LATER}`);

/** The plugin `sui` for the role `accounts`. */
const plugin: Plugin<ChainFields> = definePlugin({
  name: "sui",
  docs: "accounts.md",
  fields: CHAIN_FIELDS,
  permissions: (_role, settings) => ({ net: [netEntry(rpcUrlOf(settings))] }),
  roles: {
    accounts({ packageId, registryId, ...node }, context) {
      if (packageId === undefined || registryId === undefined) {
        throw new SvcError(
          "invalid_parameter",
          "SVC_PACKAGE_ID and SVC_REGISTRY_ID are needed where accounts are on chain",
        );
      }
      const log = (message: string) => context.log("warn", message);
      const options = { ...node, packageId, registryId, log };
      return opening().then(({ suiAccountRegistry }) => suiAccountRegistry(options));
    },
  },
});

export default plugin;
