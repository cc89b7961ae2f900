// Written by `deno task docs` from the table of routes.

/** What the routes in `src/wire/table/account.ts` take and answer. */
export interface AccountRoutes {
  /** The caller's account, key and quota. */
  readonly "GET /api/account": {
    readonly access: "signed";
    readonly answers: {
      readonly 200: {
        /** Address of the owner. */
        readonly owner: string;
        /** Object id of the account. */
        readonly account_id: string;
        /** Package of the account. */
        readonly package_id: string;
        /** Whether it authorises anybody. */
        readonly active: boolean;
        /** The key that signed. */
        readonly key: {
          /** Public key, 64 hex characters. */
          readonly public_key: string;
          /** Its address. */
          readonly address: string;
          /** Name for people. */
          readonly label: string;
          readonly permissions: readonly ("read" | "write" | "manage")[];
          /** When it was added. */
          readonly created_at: string;
          /** When it ends. */
          readonly expires_at?: string | undefined;
          /** Namespaces there are for it, or beginnings that end in `/`; all when absent. */
          readonly namespaces?: readonly string[] | undefined;
        };
        /** What stood for the key, on the way of an MCP request. */
        readonly token?: {
          /** When it ends. */
          readonly expires_at: string;
          /** Namespace of calls that name none. */
          readonly namespace?: string | undefined;
        } | undefined;
        readonly quota: {
          /** Storage used; absent without `read`. */
          readonly used_bytes?: number | undefined;
          /** Storage allowed; null is unlimited. */
          readonly limit_bytes: number | null;
        };
        /** Languages of memories that are found by words only, codes of ISO 639 or `und`, as far as the relayer saw them since it started; absent where there are none, without `read`, and for a key of some namespaces. */
        readonly unread_languages?: readonly string[] | undefined;
      };
    };
  };
  /** The account's keys and when each was used last. */
  readonly "GET /api/account/keys": {
    readonly access: "signed";
    readonly answers: {
      readonly 200: {
        readonly keys: readonly {
          /** Public key, 64 hex characters. */
          readonly public_key: string;
          /** Its address. */
          readonly address: string;
          /** Name for people. */
          readonly label: string;
          readonly permissions: readonly ("read" | "write" | "manage")[];
          /** When it was added. */
          readonly created_at: string;
          /** When it ends. */
          readonly expires_at?: string | undefined;
          /** Namespaces there are for it, or beginnings that end in `/`; all when absent. */
          readonly namespaces?: readonly string[] | undefined;
          /** When it signed last; absent when it never did. */
          readonly last_used_at?: string | undefined;
        }[];
      };
    };
  };
  /** What keys did with the account, newest first. */
  readonly "GET /api/account/activity": {
    readonly access: "signed";
    readonly query: {
      readonly limit?: number | undefined;
      /** `next_cursor` of the page before. */
      readonly cursor?: string | undefined;
      /** Only what this key did; `owner` is the owner's wallet. */
      readonly key?: string | undefined;
    };
    readonly answers: {
      readonly 200: {
        readonly entries: readonly {
          /** Public key that signed; `owner` where the wallet did. */
          readonly key: string;
          /** Name of the route; of the owner, the action signed. */
          readonly action: string;
          /** Namespace. */
          readonly namespace?: string | undefined;
          readonly via: "http" | "mcp" | "program";
          readonly from: "this_machine" | "private_network" | "internet" | "unknown";
          /** `ok`, or the code of the error. */
          readonly outcome: string;
          /** How many requests within a minute, or a day where a key has many entries. */
          readonly count: number;
          /** Time of the first. */
          readonly first_at: string;
          /** Time of the last. */
          readonly last_at: string;
        }[];
        /** Where the next page starts; absent on the last. */
        readonly next_cursor?: string | undefined;
      };
    };
  };
}
