/**
 * Accounts on the Sui chain, for the role `accounts`: the keys that may sign are those that the
 * owner's account object lists on chain. Reads by gRPC only.
 *
 * @module
 */
import { SvcError } from "../../../src/errors.ts";
import type { AccountRegistry } from "../../../src/interfaces/mod.ts";
import {
  type BackendSource,
  definePlugin,
  type Permissions,
  type Plugin,
  pluginSource,
  type Values,
} from "../../../src/interfaces/plugin.ts";
import { CHAIN_FIELDS, type ChainFields, rpcUrlOf, type SuiNetwork } from "../chain/fields.ts";
import { openSui } from "../chain/sui_client.ts";
import { netEntry } from "../../shared/net_entry.ts";
import { suiAccounts } from "./accounts.ts";

export type * from "../../../src/interfaces/mod.ts";
export type * from "../../../src/interfaces/plugin.ts";
export type { ChainFields, SuiNetwork } from "../chain/fields.ts";

/** Longest wait for a node: a request that waits for it must not wait for long. */
const TIMEOUT_MS = 5_000;
/** Fifty accounts full of keys are a fifth of it. */
const MAX_BYTES = 1024 * 1024;

/** Options of {@linkcode suiAccountRegistry}. */
export interface SuiAccountRegistryOptions {
  /** Name of the chain. */
  readonly network: SuiNetwork;
  /** Address of a node that speaks gRPC-web; the network's public one when absent or empty. */
  readonly rpcUrl?: string;
  /** First version of the package: the one its types are named by. */
  readonly packageId: string;
  /** Its registry. */
  readonly registryId: string;
  /** Notes for the operator; never addresses or keys. */
  readonly log?: (message: string) => void;
}

/** A registry whose accounts are on chain. It asks for nothing before it is asked. */
export function suiAccountRegistry(
  { network, rpcUrl = "", packageId, registryId, log = () => {} }: SuiAccountRegistryOptions,
): AccountRegistry {
  const url = rpcUrlOf({ network, rpcUrl });
  const client = openSui({ network, url, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
  return suiAccounts({ client, packageId, registryId, log });
}

/** The plugin `sui` for the role `accounts`. */
const plugin: Plugin<ChainFields> = definePlugin({
  name: "sui",
  fields: CHAIN_FIELDS,
  permissions: (_role, settings): Permissions => ({ net: [netEntry(rpcUrlOf(settings))] }),
  roles: {
    accounts({ packageId, registryId, ...settings }, context) {
      if (packageId === undefined || registryId === undefined) {
        throw new SvcError(
          "invalid_parameter",
          "SVC_PACKAGE_ID and SVC_REGISTRY_ID are needed where accounts are on chain",
        );
      }
      const log = (message: string) => context.log("warn", message);
      return suiAccountRegistry({ ...settings, packageId, registryId, log });
    },
  },
});

export default plugin;

/** Accounts on chain, for `createRelayer`. */
export function sui(settings: Partial<Values<ChainFields>>): BackendSource {
  return pluginSource(plugin, settings);
}
