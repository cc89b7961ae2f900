/**
 * Sponsored transactions, paid for by a wallet of one's own on the Sui chain.
 *
 * @module
 */
import { SvcError } from "../../../../src/errors.ts";
import {
  type BackendSource,
  definePlugin,
  type Field,
  type Fields,
  integer,
  type Permissions,
  type Plugin,
  pluginSource,
  type Secret,
  secret,
  type Values,
} from "../../../../src/interfaces/plugin.ts";
import { CHAIN_FIELDS, rpcUrlOf, type SuiNetwork } from "../../chain/fields.ts";
import { netEntry } from "../../../shared/net_entry.ts";

export type * from "../../../../src/interfaces/mod.ts";
export type * from "../../../../src/interfaces/plugin.ts";
export type { SuiNetwork } from "../../chain/fields.ts";

/** Settings of the plugin. */
export interface GasStationFields extends Fields {
  /** Chain. */
  readonly network: Field<SuiNetwork>;
  /** Node of the chain. */
  readonly rpcUrl: Field<string>;
  /** Private key of the wallet. */
  readonly privateKey: Field<Secret | undefined>;
  /** Most gas of one transaction, MIST. */
  readonly maxGasMist: Field<number>;
}

const fields: GasStationFields = {
  network: CHAIN_FIELDS.network,
  rpcUrl: CHAIN_FIELDS.rpcUrl,
  privateKey: secret("SVC_SPONSOR_PRIVATE_KEY", "`gas-station`: wallet that pays for gas"),
  maxGasMist: integer(
    "SVC_SPONSOR_MAX_GAS_MIST",
    50_000_000,
    1,
    1_000_000_000_000,
    "Most gas of one sponsored transaction, MIST",
  ),
};

function needed(privateKey: Secret | undefined): Secret {
  if (privateKey !== undefined) return privateKey;
  throw new SvcError("invalid_parameter", "SVC_SPONSOR_PRIVATE_KEY is needed by gas-station");
}

/** The plugin `gas-station` for the role `sponsor`. */
const plugin: Plugin<GasStationFields> = definePlugin<GasStationFields>({
  name: "gas-station",
  fields,
  permissions(_role, { network, rpcUrl, privateKey }): Permissions {
    // Here, so that a start without the key stops before anything runs.
    needed(privateKey);
    return { net: [netEntry(rpcUrlOf({ network, rpcUrl }))] };
  },
  roles: {
    async sponsor({ network, rpcUrl, privateKey, maxGasMist }, { log }) {
      const key = needed(privateKey);
      // Loaded here: the launcher, which only asks for permissions, does without.
      const [{ openSui }, { gasStation }, { openWallet }] = await Promise.all([
        import("../../chain/sui_client.ts"),
        import("./station.ts"),
        import("./wallet.ts"),
      ]);
      return gasStation({
        client: openSui({ network, url: rpcUrlOf({ network, rpcUrl }) }),
        wallet: openWallet(key),
        maxGasMist,
        log: (message) => log("warn", message),
      });
    },
  },
});
export default plugin;

/** The sponsor for `createRelayer`. */
export function gasStation(settings: Partial<Values<GasStationFields>>): BackendSource {
  return pluginSource(plugin, settings);
}
