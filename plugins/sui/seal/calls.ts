import type { DecryptCredential } from "../../../src/interfaces/mod.ts";
import type { SuiNetwork } from "../../../src/wire/networks.ts";

/** A key server as configured. */
export interface KeyServer {
  /** Object id of the server on chain. */
  readonly objectId: string;
  /** How much it counts; 0 = opens old keys only. */
  readonly weight: number;
  /** Address of an independent server; must be the one on chain. */
  readonly url?: string;
  /** Address of the aggregator of a committee. */
  readonly aggregatorUrl?: string;
  /** Header of the API key. */
  readonly apiKeyName?: string;
  /** API key. */
  readonly apiKey?: string;
}

/** The servers a key was wrapped for. */
export interface ServerSet {
  /** Weight that is needed to open it. */
  readonly threshold: number;
  /** Object ids and weights. */
  readonly servers: readonly { readonly objectId: string; readonly weight: number }[];
}

/** What the work on keys needs to know; crosses to the worker. */
export interface KeyWorkOptions {
  /** Name of the chain. */
  readonly network: SuiNetwork;
  /** Address of a node of the chain. */
  readonly rpcUrl: string;
  /** First version of the package on chain. */
  readonly packageId: string;
  /** Key servers as configured. */
  readonly servers: readonly KeyServer[];
  /** Threshold of new keys. */
  readonly threshold: number;
  /** Longest wait for key servers, milliseconds. */
  readonly timeoutMs: number;
}

/** Somebody who may read an account's memories. */
interface Reader {
  /** Address. */
  readonly address: string;
  /** Milliseconds since the epoch; absent when it never ends. */
  readonly expiresAt?: number;
}

/** What the chain says of an account, as far as keys depend on it. */
export interface AccountState {
  /** Whether its keys can be opened at all. */
  readonly active: boolean;
  /** Generation of its keys, from 1. */
  readonly generation: number;
  /** Version at which the object became shared; transactions name it. */
  readonly initialSharedVersion: string;
  /** The owner and the delegates that may read. */
  readonly readers: readonly Reader[];
}

/** Which identity on the key servers a secret belongs to. */
export interface KeyIdentity {
  /** Account object id. */
  readonly accountId: string;
  /** Generation of the account's keys. */
  readonly generation: number;
  /** SHA-256 of the scope, 32 bytes. */
  readonly scope: Uint8Array;
}

/** Asks for secrets of one account that were wrapped for one set of servers. */
export interface UnwrapInput {
  /** Account object id. */
  readonly accountId: string;
  /** See {@linkcode AccountState}. */
  readonly initialSharedVersion: string;
  /** Of the caller. */
  readonly credential: DecryptCredential;
  /** The servers the secrets were wrapped for. */
  readonly set: ServerSet;
  /** What to unwrap. */
  readonly items: readonly {
    readonly generation: number;
    readonly scope: Uint8Array;
    readonly ciphertext: Uint8Array;
  }[];
}

/** Whose credential it is. */
export interface Proof {
  /** Address that signed the session, or of the delegate key. */
  readonly address: string;
  /** End of the session, milliseconds since the epoch; absent for a delegate key. */
  readonly expiresAt?: number;
}

/**
 * What happens off the event loop: everything that needs the chain or costs milliseconds. Calls
 * reject with `SvcError`.
 */
export interface KeyWork {
  /** The account; `undefined` when there is none. Rejects with `chain_unavailable`. */
  account(accountId: string): Promise<AccountState | undefined>;
  /** Checks a credential by itself. Rejects with `decrypt_credential_invalid`. */
  prove(credential: DecryptCredential): Promise<Proof>;
  /** Wraps a secret for the configured servers. Rejects with what may pass. */
  wrap(input: KeyIdentity & { secret: Uint8Array }): Promise<Wrapped>;
  /**
   * Unwraps secrets; `undefined` for each that is damaged. Rejects with
   * `decrypt_credential_invalid` or `key_service_unavailable`.
   */
  unwrap(input: UnwrapInput): Promise<(Uint8Array | undefined)[]>;
}

/** A wrapped secret. */
export interface Wrapped {
  /** The servers it was wrapped for. */
  readonly set: ServerSet;
  /** Encrypted object of the threshold key service. */
  readonly ciphertext: Uint8Array;
}

/** Names of {@linkcode KeyWork}'s calls. */
export type KeyCall = keyof KeyWork;

/** To the worker; `open` comes once, first. */
export type Request =
  | { readonly type: "open"; readonly options: KeyWorkOptions }
  | {
    readonly [C in KeyCall]: {
      readonly type: "call";
      readonly id: number;
      readonly call: C;
      readonly input: Parameters<KeyWork[C]>[0];
    };
  }[KeyCall];

/** An error on its way between threads. */
export interface SentError {
  /** See `ErrorCode`. */
  readonly code: string;
  /** Safe for callers. */
  readonly message: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** Whole seconds. */
  readonly retryAfter: number | undefined;
  /** For the log. */
  readonly cause: string | undefined;
}

/** From the worker. */
export type Response =
  | { readonly type: "note"; readonly message: string }
  | { readonly type: "done"; readonly id: number; readonly value: unknown }
  | { readonly type: "failed"; readonly id: number; readonly error: SentError };
