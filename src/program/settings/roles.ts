import {
  flag,
  httpUrl,
  integer,
  list,
  objectId,
  optional,
  optionalText,
  text,
} from "../../interfaces/fields.ts";
import type { Role } from "../../interfaces/mod.ts";
import { CHAIN_FIELDS, EMBEDDER_FIELDS, MODEL_DIR_FIELD } from "../../interfaces/shared_fields.ts";

/** The hub of models that is asked where no other one is named. */
export const HUGGING_FACE = "https://huggingface.co";

/** A role that is played where the store is, unless it is said otherwise. */
function besideStore(env: string, doc: string) {
  return { ...optionalText(env, doc), fallbackText: "that of SVC_STORE" };
}

export const ROLES = {
  store: text(
    "SVC_STORE",
    "local",
    "Where jobs, deletions and all else is: `local`, `postgres` (for several relayers) or a plugin",
  ),
  accounts: {
    ...optionalText("SVC_ACCOUNTS", "Account registry: `local`, `postgres`, `sui` or a plugin"),
    fallbackText: "sui if package and registry are set, else that of SVC_STORE",
  },
  cipher: besideStore("SVC_CIPHER", "Cipher: `local`, `postgres`, `seal` or a plugin"),
  blobStore: besideStore(
    "SVC_BLOB_STORE",
    "Blob store: `local`, `postgres`, `s3`, `walrus` or a plugin",
  ),
  vectorStore: besideStore(
    "SVC_VECTOR_STORE",
    "Vector store: `local`, `lancedb`, `postgres` or a plugin",
  ),
  embedder: text(
    "SVC_EMBEDDER",
    "use-lite",
    "Embedder: `use-lite`, `onnx`, `ollama`, `openai` or a plugin",
  ),
  ...EMBEDDER_FIELDS,
  modelDir: MODEL_DIR_FIELD,
  modelHub: httpUrl(
    "SVC_MODEL_HUB",
    HUGGING_FACE,
    "Where `svc model get` fetches from: Hugging Face, or a mirror of it",
  ),
  modelHubHosts: optional(
    list("SVC_MODEL_HUB_HOSTS", [], "Further hosts that it sends downloads to, comma-separated"),
    "those of Hugging Face",
  ),
  languageModel: text(
    "SVC_LANGUAGE_MODEL",
    "none",
    "Language model: `none`, `ollama`, `openai` or a plugin",
  ),
  analyzeRequiresLlm: flag(
    "SVC_ANALYZE_REQUIRES_LLM",
    false,
    "Refuses to analyze by rules when there is no language model",
  ),
  sponsor: text("SVC_SPONSOR", "off", "Sponsor: `off`, `enoki`, `gas-station` or a plugin"),
};

export const ROLE_NAMES: readonly Role[] = [
  "accounts",
  "blobStore",
  "cipher",
  "embedder",
  "languageModel",
  "sponsor",
  "store",
  "vectorStore",
];

export const ROLE_FIELDS: Readonly<Record<Role, { readonly env: string }>> = ROLES;

/** Accounts and the chain they live on. */
export const ACCOUNTS = {
  firstAccount: flag(
    "SVC_FIRST_ACCOUNT",
    true,
    "Makes an account at the first start, where only this machine reaches the relayer",
  ),
  suiNetwork: CHAIN_FIELDS.network,
  suiRpcUrl: CHAIN_FIELDS.rpcUrl,
  packageId: CHAIN_FIELDS.packageId,
  registryId: CHAIN_FIELDS.registryId,
  accountId: objectId("SVC_ACCOUNT_ID", "Account used when a request gives no hint"),
  accountCacheTtlSeconds: integer(
    "SVC_ACCOUNT_CACHE_TTL_SECONDS",
    60,
    0,
    86_400,
    "How long an account answer is fresh, seconds",
  ),
  accountNegativeTtlSeconds: integer(
    "SVC_ACCOUNT_NEGATIVE_TTL_SECONDS",
    5,
    0,
    3600,
    "How long an unknown key stays unknown, seconds",
  ),
  accountStaleSeconds: integer(
    "SVC_ACCOUNT_STALE_SECONDS",
    300,
    0,
    86_400,
    "How long a known answer is used while the registry is down, seconds",
  ),
  accountLookupsPerMinute: integer(
    "SVC_ACCOUNT_LOOKUPS_PER_IP_PER_MINUTE",
    60,
    1,
    1_000_000,
    "Look-ups of unknown keys per client address and minute",
  ),
};
