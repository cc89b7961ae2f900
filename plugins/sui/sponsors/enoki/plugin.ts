import { SvcError } from "../../../../src/errors.ts";
import {
  definePlugin,
  type Field,
  headerSecret,
  type Plugin,
  type Secret,
} from "../../../../src/interfaces/plugin.ts";
import { CHAIN_FIELDS, type ChainFields } from "../../../../src/interfaces/shared_fields.ts";
import { rpcUrlOf } from "../../../../src/wire/networks.ts";
import { netEntry } from "../../../../src/wire/net_entry.ts";
import { LATER } from "../../../../src/later.ts";

/** Loaded later: only a sidecar with this sponsor pays, and asks the chain hardly ever. */
const sponsor = (): Promise<typeof import("./sponsor.ts")> => import(`./sponsor.ts${LATER}`);
const executed = (): Promise<typeof import("./executed.ts")> => import(`./executed.ts${LATER}`);

/** Base of Enoki's routes. */
const API = "https://api.enoki.mystenlabs.com";

function needed(apiKey: Secret | undefined): Secret {
  if (apiKey !== undefined) return apiKey;
  throw new SvcError("invalid_parameter", "SVC_ENOKI_API_KEY is needed by enoki");
}

/** Settings of the plugin; docs/configuration.md describes each. */
export type EnokiFields = Pick<ChainFields, "network" | "rpcUrl"> & {
  /** API key. */
  readonly apiKey: Field<Secret | undefined>;
};

/** The plugin `enoki` for the role `sponsor`. */
const plugin: Plugin<EnokiFields> = definePlugin({
  name: "enoki",
  docs: "sponsor.md",
  fields: {
    network: CHAIN_FIELDS.network,
    // Asked whether a transaction was executed when Enoki's answer was lost.
    rpcUrl: CHAIN_FIELDS.rpcUrl,
    apiKey: headerSecret("SVC_ENOKI_API_KEY", "API key"),
  },
  permissions(_role, { apiKey, ...node }) {
    // Here, so that a start without the key stops before anything runs.
    needed(apiKey);
    return { net: [netEntry(API), netEntry(rpcUrlOf(node))] };
  },
  roles: {
    sponsor({ network, rpcUrl, apiKey }) {
      if (network === "localnet") {
        const text = "SVC_SUI_NETWORK: enoki serves mainnet and testnet";
        throw new SvcError("invalid_parameter", text);
      }
      const node = { network, url: rpcUrlOf({ network, rpcUrl }) };
      const options = { base: API, network, apiKey: needed(apiKey) };
      const isExecuted = async (digest: string) =>
        await (await executed()).wasExecuted(node, digest);
      return sponsor().then(({ enokiSponsor }) => enokiSponsor({ ...options, isExecuted }));
    },
  },
});

export default plugin;
