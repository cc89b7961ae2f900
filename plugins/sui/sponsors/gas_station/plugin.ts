import { SvcError } from "../../../../src/errors.ts";
import {
  definePlugin,
  type Field,
  type Plugin,
  type Secret,
  secret,
} from "../../../../src/interfaces/plugin.ts";
import {
  CHAIN_FIELDS,
  type ChainFields,
  MAX_GAS_FIELD,
} from "../../../../src/interfaces/shared_fields.ts";
import { rpcUrlOf } from "../../../../src/wire/networks.ts";
import { netEntry } from "../../../../src/wire/net_entry.ts";
import { LATER } from "../../../../src/later.ts";

/** Loaded later: only a sidecar with this sponsor needs the packages of the chain. */
const opening = (): Promise<typeof import("./open.ts")> => import(`./open.ts${LATER}`);

function needed(privateKey: Secret | undefined): Secret {
  if (privateKey !== undefined) return privateKey;
  throw new SvcError("invalid_parameter", "SVC_SPONSOR_PRIVATE_KEY is needed by gas-station");
}

/** Settings of the plugin; docs/configuration.md describes each. */
export type GasStationFields = Pick<ChainFields, "network" | "rpcUrl"> & {
  /** Wallet that pays for gas. */
  readonly privateKey: Field<Secret | undefined>;
  /** Most gas of one sponsored transaction, MIST. */
  readonly maxGasMist: Field<number>;
};

/** The plugin `gas-station` for the role `sponsor`. */
const plugin: Plugin<GasStationFields> = definePlugin({
  name: "gas-station",
  docs: "sponsor.md",
  fields: {
    network: CHAIN_FIELDS.network,
    rpcUrl: CHAIN_FIELDS.rpcUrl,
    privateKey: secret("SVC_SPONSOR_PRIVATE_KEY", "Wallet that pays for gas"),
    maxGasMist: MAX_GAS_FIELD,
  },
  permissions(_role, { privateKey, ...node }) {
    // Here, so that a start without the key stops before anything runs.
    needed(privateKey);
    return { net: [netEntry(rpcUrlOf(node))] };
  },
  roles: {
    async sponsor({ network, rpcUrl, privateKey, maxGasMist }, { log }) {
      const key = needed(privateKey);
      const { openGasStation } = await opening();
      const node = { network, url: rpcUrlOf({ network, rpcUrl }) };
      return openGasStation(node, key, { maxGasMist, log: (message) => log("warn", message) });
    },
  },
});

export default plugin;
