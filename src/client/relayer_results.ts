// Answers about the relayer and the caller (docs/protocol.md#9 and #10.10).

/** The key that signed. */
export interface AccountKey {
  /** 64 hex characters. */
  readonly public_key: string;
  /** Its address. */
  readonly address: string;
  /** Name for people. */
  readonly label: string;
  /** What it may do. */
  readonly permissions: readonly ("read" | "write")[];
  /** When it was added. */
  readonly created_at: string;
  /** When it ends. */
  readonly expires_at?: string;
}

/** A key in the list of the account's keys. */
export interface ListedKey extends AccountKey {
  /** When it signed an accepted request last; absent when it never did. */
  readonly last_used_at?: string;
}

/** The caller's account. */
export interface AccountInfo {
  /** Address of the owner. */
  readonly owner: string;
  /** Object id. */
  readonly account_id: string;
  /** Package of the account. */
  readonly package_id: string;
  /** Whether it authorises anybody. */
  readonly active: boolean;
  /** The key that signed. */
  readonly key: AccountKey;
  /** Storage used and allowed; `null` is unlimited. */
  readonly quota: { readonly used_bytes: number; readonly limit_bytes: number | null };
}

/** Versions and abilities of the relayer. */
export interface Version {
  /** Version of the program. */
  readonly relayerVersion: string;
  /** Version of the wire protocol. */
  readonly apiVersion: string;
  /** Oldest clients that work. */
  readonly minSupportedSdk: Readonly<Record<string, string>>;
  /** What is built. */
  readonly featureFlags: Readonly<Record<string, boolean>>;
  /** What will be removed. */
  readonly deprecations: readonly unknown[];
  /** Where the program came from. */
  readonly build: { readonly commit?: string; readonly buildTimestamp?: string };
}

/** Health of the relayer. */
export interface Health extends Partial<Version> {
  /** Whether it can accept a write. */
  readonly status: "ok" | "degraded" | "unavailable";
  /** Version of the program. */
  readonly version: string;
  /** Always `production`. */
  readonly mode: string;
  /** What it depends on. */
  readonly dependencies: Readonly<Record<string, { readonly status: string }>>;
}

/** Public configuration of the relayer. */
export interface Config {
  /** Package of the accounts. */
  readonly packageId: string;
  /** Chain network. */
  readonly network: string;
  /** Chain node for clients. */
  readonly suiRpcUrl: string;
  /** Whether limits are off. */
  readonly rateLimitDisabled: boolean;
  /** Registry of the accounts. */
  readonly registryId?: string;
  /** Name of the embedder's model. */
  readonly embeddingModel: string;
  /** Length of a vector. */
  readonly embeddingDimensions: number;
  /** Whether the 4-field form is refused. */
  readonly nonceRequired: boolean;
  /** Whether transactions are sponsored. */
  readonly sponsorEnabled: boolean;
  /** Address of the MCP endpoint. */
  readonly mcpUrl: string;
}
