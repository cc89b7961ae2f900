import { bcs } from "@mysten/sui/bcs";
import { accountObjectOf, accountVersion } from "../../plugins/sui/chain/account_object.ts";
import type { ContractEvent } from "./events.ts";

/** Version of the data that this code understands, `VERSION` in the Move source. */
export const VERSION = 2n;

/** Most keys of an account. */
export const MAX_KEYS = 20;

/** Longest label, bytes of UTF-8. */
export const MAX_LABEL = 64;

/** Most namespaces that a key is bound to. */
export const MAX_NAMES = 32;

/** Longest name of one, bytes of UTF-8. */
export const MAX_NAME = 256;

/** Bit of a permission to read, and so to be given keys by Seal. */
export const READ = 1;

/** Bit of a permission to write. */
export const WRITE = 2;
export const MANAGE = 4;

/** `svc::account::DelegateKey`. Times are milliseconds since the epoch. */
export interface DelegateKeyState {
  /** 64 lower-case hex characters. */
  readonly publicKey: string;
  /** `0x` and 64 lower-case hex characters. */
  readonly address: string;
  /** At most {@linkcode MAX_LABEL} bytes. */
  readonly label: string;
  /** {@linkcode READ}, {@linkcode WRITE} and {@linkcode MANAGE}, one or more. */
  readonly permissions: number;
  /** When it was added. */
  readonly createdAt: bigint;
  /** From when on it is worth nothing; 0 = never. */
  readonly expiresAt: bigint;
  /** Generation of the account when it was added. */
  readonly sinceGeneration: bigint;
  /** What it is bound to, each as it is or a beginning that ends in `/`; empty = all. */
  readonly namespaces: readonly string[];
}

/** `svc::account::SvcAccount`. Ids and addresses are `0x` and 64 lower-case hex characters. */
export interface AccountState {
  /** Object id. */
  readonly id: string;
  /** Version of the data. */
  readonly version: bigint;
  /** Who may change it. */
  readonly owner: string;
  /** Who may become its owner. */
  readonly pendingOwner: string | undefined;
  /** Listed keys; no two are equal, and no other account lists them. */
  readonly delegateKeys: readonly DelegateKeyState[];
  /** Milliseconds since the epoch. */
  readonly createdAt: bigint;
  /** While false nobody is given keys. */
  readonly active: boolean;
  /** From 1. */
  readonly generation: bigint;
}

/** Name of an entry of the registry's index: dynamic fields `OwnerKey` and `DelegateIndex`. */
export type IndexName =
  | { readonly kind: "owner"; readonly owner: string }
  | { readonly kind: "key"; readonly publicKey: string };

/**
 * What one call of the contract sees and changes. Every function of the mirror does all its checks
 * before its first change, so that an abort leaves a world as it was.
 */
export interface World {
  /** Who signed the transaction. */
  readonly sender: string;
  /** The Clock, milliseconds since the epoch. */
  readonly now: bigint;
  /**
   * Version of the data that the package's code understands: {@linkcode VERSION}, or 1 for a package
   * of svc 0.1.
   */
  readonly codeVersion: bigint;
  /** `version` of the registry. */
  readonly registryVersion: bigint;
  /** The account with an id; the caller has checked that it exists. */
  account(id: string): AccountState;
  /** Stores a new account (shared) or a changed one. */
  putAccount(account: AccountState): void;
  /** Deletes an account. */
  deleteAccount(id: string): void;
  /** Account id of an entry of the index. */
  indexGet(name: IndexName): string | undefined;
  /** Adds an entry. */
  indexSet(name: IndexName, accountId: string): void;
  /** Removes an entry that exists. */
  indexRemove(name: IndexName): void;
  /** Id of an object that the transaction creates. */
  freshId(): string;
  /** Emits an event. */
  emit(event: ContractEvent): void;
}

/** BCS of an account, as in its object on chain. */
export function encodeAccount(account: AccountState): Uint8Array<ArrayBuffer> {
  return accountObjectOf(account.version).serialize({
    id: account.id,
    version: account.version,
    owner: account.owner,
    pending_owner: account.pendingOwner ?? null,
    delegate_keys: account.delegateKeys.map((key) => ({
      public_key: Uint8Array.fromHex(key.publicKey),
      sui_address: key.address,
      label: key.label,
      permissions: key.permissions,
      created_at: key.createdAt,
      expires_at: key.expiresAt,
      since_generation: key.sinceGeneration,
      namespaces: [...key.namespaces],
    })),
    created_at: account.createdAt,
    active: account.active,
    generation: account.generation,
  }).toBytes();
}

/** An account from the BCS of its object. */
export function decodeAccount(content: Uint8Array): AccountState {
  const parsed = accountObjectOf(accountVersion(content)).parse(content);
  return {
    id: parsed.id,
    version: BigInt(parsed.version),
    owner: parsed.owner,
    pendingOwner: parsed.pending_owner ?? undefined,
    delegateKeys: parsed.delegate_keys.map((key) => ({
      publicKey: new Uint8Array(key.public_key).toHex(),
      address: key.sui_address,
      label: key.label,
      permissions: key.permissions,
      createdAt: BigInt(key.created_at),
      expiresAt: BigInt(key.expires_at),
      sinceGeneration: BigInt(key.since_generation),
      namespaces: key.namespaces,
    })),
    createdAt: BigInt(parsed.created_at),
    active: parsed.active,
    generation: BigInt(parsed.generation),
  };
}

/** BCS of `svc::account::Registry`; its dynamic fields are the index. */
const RegistryObject = bcs.struct("Registry", { id: bcs.Address, version: bcs.u64() });

/** BCS of the registry, as in its object on chain. */
export function encodeRegistry(id: string, version: bigint = VERSION): Uint8Array<ArrayBuffer> {
  return RegistryObject.serialize({ id, version }).toBytes();
}
