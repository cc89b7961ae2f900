/**
 * Accounts on the Sui chain, for the role `accounts`: the keys that may sign are those that the
 * owner's account object lists on chain. Reads by gRPC only.
 *
 * @module
 */
import { SvcError } from "../../src/errors.ts";
import { definePlugin, type Permissions, type Plugin } from "../../src/plugin.ts";
import { CHAIN_FIELDS, rpcUrlOf } from "../chain/fields.ts";
import { openSui } from "../chain/sui_client.ts";
import { netEntry } from "../models/net_entry.ts";
import { suiAccounts } from "./accounts.ts";

export { type SuiAccounts, suiAccounts, type SuiAccountsOptions } from "./accounts.ts";

/** Longest wait for a node: a request that waits for it must not wait for long. */
const TIMEOUT_MS = 5_000;
/** Fifty accounts full of keys are a fifth of it. */
const MAX_BYTES = 1024 * 1024;

/** The plugin `sui` for the role `accounts`. */
const plugin: Plugin<typeof CHAIN_FIELDS> = definePlugin({
  name: "sui",
  fields: CHAIN_FIELDS,
  permissions: (_role, settings): Permissions => ({ net: [netEntry(rpcUrlOf(settings))] }),
  roles: {
    accounts(settings, context) {
      const { network, packageId, registryId } = settings;
      if (packageId === undefined || registryId === undefined) {
        throw new SvcError(
          "invalid_parameter",
          "SVC_PACKAGE_ID and SVC_REGISTRY_ID are needed where accounts are on chain",
        );
      }
      const url = rpcUrlOf(settings);
      return suiAccounts({
        client: openSui({ network, url, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES }),
        packageId,
        registryId,
        log: (message) => context.log("warn", message),
      });
    },
  },
});

export default plugin;
