import type { SuiNetwork } from "../wire/networks.ts";
import {
  choice,
  type Field,
  httpUrl,
  integer,
  objectId,
  optional,
  optionalText,
  type Secret,
  secret,
} from "./fields.ts";

/** Settings of a chain. */
export type ChainFields = {
  /** Its name. */
  readonly network: Field<SuiNetwork>;
  /** Address of a node; the network's public one when absent. */
  readonly rpcUrl: Field<string | undefined>;
  /** First version of the package. */
  readonly packageId: Field<string | undefined>;
  /** Its registry. */
  readonly registryId: Field<string | undefined>;
};

/** The chain: the relayer names it in /config, and every plugin on it reads it. */
export const CHAIN_FIELDS: ChainFields = {
  network: choice<SuiNetwork>(
    "SVC_SUI_NETWORK",
    "localnet",
    ["mainnet", "testnet", "localnet"],
    "Chain, shown in /config",
  ),
  rpcUrl: optional(httpUrl("SVC_SUI_RPC_URL", "", "Node of the chain"), "the network's"),
  packageId: objectId("SVC_PACKAGE_ID", "Package on chain; needed when accounts are on chain"),
  registryId: objectId("SVC_REGISTRY_ID", "Registry on chain; needed when accounts are on chain"),
};

/** What may be said of any embedder: the relayer checks the length, the embedder reads both. */
export const EMBEDDER_FIELDS = {
  embeddingModel: {
    ...optionalText("SVC_EMBEDDING_MODEL", "Model of the embedder"),
    fallbackText: "the plugin's",
  },
  embeddingDimensions: optional(
    integer("SVC_EMBEDDING_DIMENSIONS", 512, 1, 8192, "Length of the embedder's vectors"),
    "the plugin's",
  ),
};

/** Model of the plugin `onnx` where none is named. */
export const DEFAULT_ONNX_MODEL = "multilingual-e5-small";

/** Folder of models that were fetched: `svc model get` writes it, the plugin `onnx` reads it. */
export const MODEL_DIR_FIELD: Field<string | undefined> = {
  ...optionalText("SVC_MODEL_DIR", "Folder of the models that `svc model get` fetches"),
  fallbackText: "~/.svc/models",
};

/** The most a sponsor pays for one transaction: the relayer and the sponsor keep to it. */
export const MAX_GAS_FIELD: Field<number> = integer(
  "SVC_SPONSOR_MAX_GAS_MIST",
  50_000_000,
  1,
  999_999_999_999_999,
  "Most gas of one sponsored transaction, MIST",
);

/** Wallets on the chain: they pay for blobs, and the first one for the contract's publication. */
export const WALLETS_FIELD: Field<Secret | undefined> = secret(
  "SVC_SUI_PRIVATE_KEYS",
  "Wallets that pay, comma-separated",
);
