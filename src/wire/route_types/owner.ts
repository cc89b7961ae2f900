// Written by `deno task docs` from the table of routes.

/** What the routes in `src/wire/table/owner.ts` take and answer. */
export interface OwnerRoutes {
  /** A text for the owner's wallet to sign. */
  readonly "POST /accounts/challenge": {
    readonly access: "owner";
    readonly body: {
      readonly address: string;
      readonly action:
        | "open"
        | "create"
        | "add_key"
        | "remove_key"
        | "remove_all_keys"
        | "deactivate"
        | "reactivate";
      readonly params: { readonly [name: string]: unknown };
    };
    readonly answers: {
      readonly 200: {
        /** What the wallet signs. */
        readonly challenge: string;
        /** When it ends. */
        readonly expires_at: string;
      };
    };
  };
  /** Create an embedded account. */
  readonly "POST /accounts": {
    readonly access: "owner";
    readonly body: {
      readonly challenge: string;
      readonly signature: string;
      readonly params: { readonly [name: string]: unknown };
    };
    readonly answers: {
      readonly 201: {
        /** Object id of the account. */
        readonly account_id: string;
        /** Address of the owner. */
        readonly owner: string;
        /** Whether it authorises anybody. */
        readonly active: boolean;
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
        }[];
      };
    };
  };
  /** The owner's account, made when missing. */
  readonly "POST /accounts/open": {
    readonly access: "owner";
    readonly body: {
      readonly challenge: string;
      readonly signature: string;
      readonly params: { readonly [name: string]: unknown };
    };
    readonly answers: {
      readonly 200: {
        /** Object id of the account. */
        readonly account_id: string;
        /** Address of the owner. */
        readonly owner: string;
        /** Whether it authorises anybody. */
        readonly active: boolean;
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
        }[];
      };
      readonly 201: {
        /** Object id of the account. */
        readonly account_id: string;
        /** Address of the owner. */
        readonly owner: string;
        /** Whether it authorises anybody. */
        readonly active: boolean;
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
        }[];
      };
    };
  };
  /** Add a delegate key. */
  readonly "POST /accounts/:id/keys": {
    readonly access: "owner";
    readonly body: {
      readonly challenge: string;
      readonly signature: string;
      readonly params: {
        readonly public_key: string;
        readonly label: string;
        readonly permissions: readonly ("read" | "write" | "manage")[];
        readonly expires_at?: string | undefined;
        readonly namespaces?: readonly string[] | undefined;
        readonly proof: string;
      };
    };
    readonly answers: {
      readonly 200: {
        /** Object id of the account. */
        readonly account_id: string;
        /** Address of the owner. */
        readonly owner: string;
        /** Whether it authorises anybody. */
        readonly active: boolean;
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
        }[];
      };
    };
  };
  /** Remove a delegate key. */
  readonly "POST /accounts/:id/keys/remove": {
    readonly access: "owner";
    readonly body: {
      readonly challenge: string;
      readonly signature: string;
      readonly params: {
        readonly public_key: string;
      };
    };
    readonly answers: {
      readonly 200: {
        /** Object id of the account. */
        readonly account_id: string;
        /** Address of the owner. */
        readonly owner: string;
        /** Whether it authorises anybody. */
        readonly active: boolean;
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
        }[];
      };
    };
  };
  /** Remove every delegate key. */
  readonly "POST /accounts/:id/keys/remove_all": {
    readonly access: "owner";
    readonly body: {
      readonly challenge: string;
      readonly signature: string;
      readonly params: { readonly [name: string]: unknown };
    };
    readonly answers: {
      readonly 200: {
        /** Object id of the account. */
        readonly account_id: string;
        /** Address of the owner. */
        readonly owner: string;
        /** Whether it authorises anybody. */
        readonly active: boolean;
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
        }[];
      };
    };
  };
  /** Deactivate an account. */
  readonly "POST /accounts/:id/deactivate": {
    readonly access: "owner";
    readonly body: {
      readonly challenge: string;
      readonly signature: string;
      readonly params: { readonly [name: string]: unknown };
    };
    readonly answers: {
      readonly 200: {
        /** Object id of the account. */
        readonly account_id: string;
        /** Address of the owner. */
        readonly owner: string;
        /** Whether it authorises anybody. */
        readonly active: boolean;
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
        }[];
      };
    };
  };
  /** Reactivate an account. */
  readonly "POST /accounts/:id/reactivate": {
    readonly access: "owner";
    readonly body: {
      readonly challenge: string;
      readonly signature: string;
      readonly params: { readonly [name: string]: unknown };
    };
    readonly answers: {
      readonly 200: {
        /** Object id of the account. */
        readonly account_id: string;
        /** Address of the owner. */
        readonly owner: string;
        /** Whether it authorises anybody. */
        readonly active: boolean;
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
        }[];
      };
    };
  };
}
