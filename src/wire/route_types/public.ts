// Written by `deno task docs` from the table of routes.

/** What the routes in `src/wire/table/public.ts` take and answer. */
export interface PublicRoutes {
  /** Whether a write can be accepted. */
  readonly "GET /health": {
    readonly access: "public";
    readonly answers: {
      readonly 200: {
        /** Whether a write can be accepted. */
        readonly status: "ok" | "degraded" | "unavailable";
        /** Version of the program. */
        readonly version: string;
        readonly mode: "production";
        readonly prompt_versions: {
          /** Of the instructions that extract facts. */
          readonly extract: string;
          /** Of the instructions that answer questions. */
          readonly ask: string;
        };
        /** State of each dependency by its name. */
        readonly dependencies: {
          readonly [name: string]: {
            readonly status: "ok" | "degraded" | "down" | "disabled";
          };
        };
        /** Version of the program. */
        readonly relayerVersion: string;
        /** Version of these routes. */
        readonly apiVersion: string;
        /** Oldest clients that work. */
        readonly minSupportedSdk: {
          /** Of the client in TypeScript. */
          readonly typescript: string;
          /** Of the client in Python. */
          readonly python: string;
          /** Of the stdio package. */
          readonly mcp: string;
        };
        /** What is built. */
        readonly featureFlags: { readonly [name: string]: boolean };
        readonly deprecations: readonly {
          /** What will be removed. */
          readonly surface: string;
          /** Version since which it is deprecated. */
          readonly deprecatedSince: string;
          /** Version without it. */
          readonly removalApiVersion: string;
          /** What to use instead. */
          readonly guidance: string;
        }[];
        readonly build: {
          /** Commit it was built from. */
          readonly commit?: string | undefined;
          /** When it was built. */
          readonly buildTimestamp?: string | undefined;
        };
      };
      readonly 503: {
        /** Whether a write can be accepted. */
        readonly status: "ok" | "degraded" | "unavailable";
        /** Version of the program. */
        readonly version: string;
        readonly mode: "production";
        readonly prompt_versions: {
          /** Of the instructions that extract facts. */
          readonly extract: string;
          /** Of the instructions that answer questions. */
          readonly ask: string;
        };
        /** State of each dependency by its name. */
        readonly dependencies: {
          readonly [name: string]: {
            readonly status: "ok" | "degraded" | "down" | "disabled";
          };
        };
        /** Version of the program. */
        readonly relayerVersion: string;
        /** Version of these routes. */
        readonly apiVersion: string;
        /** Oldest clients that work. */
        readonly minSupportedSdk: {
          /** Of the client in TypeScript. */
          readonly typescript: string;
          /** Of the client in Python. */
          readonly python: string;
          /** Of the stdio package. */
          readonly mcp: string;
        };
        /** What is built. */
        readonly featureFlags: { readonly [name: string]: boolean };
        readonly deprecations: readonly {
          /** What will be removed. */
          readonly surface: string;
          /** Version since which it is deprecated. */
          readonly deprecatedSince: string;
          /** Version without it. */
          readonly removalApiVersion: string;
          /** What to use instead. */
          readonly guidance: string;
        }[];
        readonly build: {
          /** Commit it was built from. */
          readonly commit?: string | undefined;
          /** When it was built. */
          readonly buildTimestamp?: string | undefined;
        };
      };
    };
  };
  /** The key that signs receipts of deletions. */
  readonly "GET /.well-known/svc-receipt-key": {
    readonly access: "public";
    readonly answers: {
      readonly 200: {
        readonly algorithm: "Ed25519";
        /** 64 hex characters. */
        readonly public_key: string;
      };
    };
  };
  /** Versions and feature flags. */
  readonly "GET /version": {
    readonly access: "public";
    readonly answers: {
      readonly 200: {
        /** Version of the program. */
        readonly relayerVersion: string;
        /** Version of these routes. */
        readonly apiVersion: string;
        /** Oldest clients that work. */
        readonly minSupportedSdk: {
          /** Of the client in TypeScript. */
          readonly typescript: string;
          /** Of the client in Python. */
          readonly python: string;
          /** Of the stdio package. */
          readonly mcp: string;
        };
        /** What is built. */
        readonly featureFlags: { readonly [name: string]: boolean };
        readonly deprecations: readonly {
          /** What will be removed. */
          readonly surface: string;
          /** Version since which it is deprecated. */
          readonly deprecatedSince: string;
          /** Version without it. */
          readonly removalApiVersion: string;
          /** What to use instead. */
          readonly guidance: string;
        }[];
        readonly build: {
          /** Commit it was built from. */
          readonly commit?: string | undefined;
          /** When it was built. */
          readonly buildTimestamp?: string | undefined;
        };
      };
    };
  };
  /** Deployment metadata. */
  readonly "GET /config": {
    readonly access: "public";
    readonly answers: {
      readonly 200: {
        /** Package of the accounts. */
        readonly packageId: string;
        /** Network of the chain. */
        readonly network: "mainnet" | "testnet" | "localnet";
        /** Chain node for clients. */
        readonly suiRpcUrl: string;
        /** Whether limits are off. */
        readonly rateLimitDisabled: boolean;
        /** Registry of the accounts. */
        readonly registryId?: string | undefined;
        /** Name of the embedder's model. */
        readonly embeddingModel: string;
        /** Length of a vector. */
        readonly embeddingDimensions: number;
        /** Whether the 4-field signature is refused. */
        readonly nonceRequired: boolean;
        /** Whether transactions are paid for. */
        readonly sponsorEnabled: boolean;
        /** Address of the MCP endpoint. */
        readonly mcpUrl: string;
      };
    };
  };
  /** This description. */
  readonly "GET /openapi.json": {
    readonly access: "public";
    readonly answers: {
      readonly 200: {
        /** Version of OpenAPI. */
        readonly openapi: string;
        readonly info: { readonly [name: string]: string };
        readonly paths: { readonly [name: string]: unknown };
        readonly components: { readonly [name: string]: unknown };
      };
    };
  };
  /** Prometheus text, for this machine only. */
  readonly "GET /metrics": {
    readonly access: "public";
  };
  /** Package read for published clients. */
  readonly "POST /compat/sui": {
    readonly access: "public";
    readonly body: {
      readonly method: string;
      readonly params?: readonly unknown[] | undefined;
    };
    readonly answers: {
      readonly 200: {
        readonly jsonrpc: "2.0";
        readonly id: string | number | null;
        readonly result:
          | {
            readonly data: {
              /** Package of the accounts. */
              readonly objectId: string;
              /** Its kind. */
              readonly type: string;
            };
          }
          | {
            readonly error: {
              readonly code: "notExists";
              /** Id that was asked for. */
              readonly object_id: string;
            };
          }
          | readonly ({
            readonly data: {
              /** Package of the accounts. */
              readonly objectId: string;
              /** Its kind. */
              readonly type: string;
            };
          } | {
            readonly error: {
              readonly code: "notExists";
              /** Id that was asked for. */
              readonly object_id: string;
            };
          })[];
      } | {
        readonly jsonrpc: "2.0";
        readonly id: string | number | null;
        readonly error: {
          readonly code: number;
          readonly message: string;
        };
      };
    };
  };
}
