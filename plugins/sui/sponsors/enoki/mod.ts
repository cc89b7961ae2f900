/**
 * Sponsored transactions, paid for by Mysten's Enoki.
 *
 * @module
 */
import { SvcError } from "../../../../src/errors.ts";
import {
  type BackendSource,
  definePlugin,
  type Field,
  type Fields,
  headerSecret,
  type Permissions,
  type Plugin,
  pluginSource,
  type Secret,
  type Values,
} from "../../../../src/interfaces/plugin.ts";
import { CHAIN_FIELDS, rpcUrlOf, type SuiNetwork } from "../../chain/fields.ts";
import { netEntry } from "../../../shared/net_entry.ts";
import { enokiSponsor } from "./sponsor.ts";

export type * from "../../../../src/interfaces/mod.ts";
export type * from "../../../../src/interfaces/plugin.ts";
export type { SuiNetwork } from "../../chain/fields.ts";
export { type EnokiOptions, enokiSponsor } from "./sponsor.ts";

/** Base of Enoki's routes. */
const API = "https://api.enoki.mystenlabs.com";

/** Settings of the plugin. */
export interface EnokiFields extends Fields {
  /** Chain; Enoki serves mainnet and testnet. */
  readonly network: Field<SuiNetwork>;
  /** Node of the chain, asked whether a transaction was executed when Enoki's answer was lost. */
  readonly rpcUrl: Field<string>;
  /** API key. */
  readonly apiKey: Field<Secret | undefined>;
}

const fields: EnokiFields = {
  network: CHAIN_FIELDS.network,
  rpcUrl: CHAIN_FIELDS.rpcUrl,
  apiKey: headerSecret("SVC_ENOKI_API_KEY", "`enoki`: API key"),
};

function needed(apiKey: Secret | undefined): Secret {
  if (apiKey !== undefined) return apiKey;
  throw new SvcError("invalid_parameter", "SVC_ENOKI_API_KEY is needed by enoki");
}

/** The plugin `enoki` for the role `sponsor`. */
const plugin: Plugin<EnokiFields> = definePlugin<EnokiFields>({
  name: "enoki",
  fields,
  permissions(_role, { network, rpcUrl, apiKey }): Permissions {
    // Here, so that a start without the key stops before anything runs.
    needed(apiKey);
    return { net: [netEntry(API), netEntry(rpcUrlOf({ network, rpcUrl }))] };
  },
  roles: {
    sponsor({ network, rpcUrl, apiKey }) {
      if (network === "localnet") {
        throw new SvcError(
          "invalid_parameter",
          "SVC_SUI_NETWORK: enoki serves mainnet and testnet",
        );
      }
      return enokiSponsor({
        base: API,
        network,
        apiKey: needed(apiKey),
        async isExecuted(digest) {
          // Loaded when it is needed, which is hardly ever.
          const { wasExecuted } = await import("./executed.ts");
          return await wasExecuted({ network, url: rpcUrlOf({ network, rpcUrl }) }, digest);
        },
      });
    },
  },
});
export default plugin;

/** The sponsor for `createRelayer`. */
export function enoki(settings: Partial<Values<EnokiFields>>): BackendSource {
  return pluginSource(plugin, settings);
}
