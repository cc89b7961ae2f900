import type { SvcError } from "../../../src/errors.ts";
import type { DecryptCredential, Scope } from "../../../src/interfaces/mod.ts";
import type { SuiNetwork } from "../../../src/wire/networks.ts";

/** A key server as configured. */
export interface KeyServer {
  /** Object id of the server on chain. */
  readonly objectId: string;
  /** How many shares of a key it holds; 0: it opens old keys only. */
  readonly weight: number;
  /** Address of an independent server; must be the one on chain. */
  readonly url?: string;
  /** Address of the aggregator of a committee. */
  readonly aggregatorUrl?: string;
  /** Name of the header that carries `apiKey`. */
  readonly apiKeyName?: string;
  /** Secret that the server asks for. */
  readonly apiKey?: string;
}

/** The servers a key was wrapped for, and the weight of them that opens it. */
export interface ServerSet {
  readonly threshold: number;
  readonly servers: readonly { readonly objectId: string; readonly weight: number }[];
}

/** What the work on keys needs to know; it is sent to the worker. */
export interface KeyWorkOptions {
  /** Network of the chain; only on `localnet` a key server may have an address without https. */
  readonly network: SuiNetwork;
  /** Address of a node of the chain. */
  readonly rpcUrl: string;
  /** First version of the package on chain. */
  readonly packageId: string;
  /** Key servers as configured. */
  readonly servers: readonly KeyServer[];
  /** Weight of servers that opens new keys. */
  readonly threshold: number;
  /** Longest wait for key servers, milliseconds. */
  readonly timeoutMs: number;
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

/** An address that may read. */
export interface Reader extends Proof {
  /** The namespaces that it is bound to; absent where it may read all. */
  readonly namespaces?: readonly string[];
}

/** Which identity on the key servers a secret belongs to. */
export interface KeyIdentity {
  readonly accountId: string;
  /** Generation of the account's keys. */
  readonly generation: number;
  /** SHA-256 of the scope, 32 bytes. */
  readonly scope: Uint8Array;
}

/** Secrets of one account that were wrapped for one set of servers, and what opens them. */
export interface UnwrapInput extends Pick<AccountState, "initialSharedVersion"> {
  readonly accountId: string;
  readonly credential: DecryptCredential;
  /** The scope of all items, where the caller is bound to namespaces and has to name it. */
  readonly named?: Scope | undefined;
  readonly set: ServerSet;
  readonly items: readonly (Omit<KeyIdentity, "accountId"> & { readonly ciphertext: Uint8Array })[];
}

/** An address that may read, or that a credential proves. */
export interface Proof {
  readonly address: string;
  /** When that ends, milliseconds since the epoch; absent when it never does. */
  readonly expiresAt?: number;
}

/**
 * The work that is done off the event loop: all that needs the chain or computes for milliseconds.
 * Calls reject with `SvcError`.
 */
export interface KeyWork {
  /** Resolves to `undefined` when there is no such account. Rejects with `chain_unavailable`. */
  account(accountId: string): Promise<AccountState | undefined>;
  /** Checks a credential without an account. Rejects with `decrypt_credential_invalid`. */
  prove(credential: DecryptCredential): Promise<Proof>;
  /** Wraps a secret for the configured servers. Rejects with retryable errors. */
  wrap(input: KeyIdentity & { secret: Uint8Array }): Promise<Wrapped>;
  /**
   * Unwraps secrets; `undefined` for each that is damaged. Rejects with
   * `decrypt_credential_invalid` or `key_service_unavailable`.
   */
  unwrap(input: UnwrapInput): Promise<(Uint8Array | undefined)[]>;
}

/** A secret as an encrypted object of the threshold key service. */
export interface Wrapped {
  readonly set: ServerSet;
  readonly ciphertext: Uint8Array;
}

/** Names of {@linkcode KeyWork}'s calls. */
export type KeyCall = keyof KeyWork;

/** Comes to the worker once, first. */
export interface Open {
  readonly options: KeyWorkOptions;
}

/** A call for the worker; the input is that of the call with this name. */
export interface Request {
  readonly id: number;
  readonly call: KeyCall;
  readonly input: unknown;
}

/** A `SvcError` on its way between threads; the cause is for the log. */
export interface SentError extends Pick<SvcError, "code" | "message" | "retryable" | "retryAfter"> {
  readonly cause: string | undefined;
}

/** From the worker: how a call ended, under its number, or a note for the operator, under 0. */
export interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: SentError;
  readonly note?: string;
}
