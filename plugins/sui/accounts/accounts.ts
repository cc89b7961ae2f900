import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { SvcError } from "../../../src/errors.ts";
import type {
  Account,
  AccountListener,
  AccountRegistry,
  BackendHealth,
  CallOptions,
} from "../../../src/interfaces/mod.ts";
import { isObjectId, isPublicKey } from "../../../src/wire/keys.ts";
import type { CircuitBreakerOptions } from "../../shared/circuit_breaker.ts";
import {
  type Contract,
  type IndexField,
  keyField,
  ownerField,
  readAccount,
} from "./account_checks.ts";
import { AccountWatch, type WatchOptions } from "./account_watch.ts";
import { ObjectReader } from "./object_reader.ts";

/** Options of {@linkcode suiAccounts}. */
interface SuiAccountsOptions extends Contract {
  /** Client of a node; its own deadline and byte cap hold. */
  readonly client: SuiGrpcClient;
  /** When the node is left alone. */
  readonly breaker?: CircuitBreakerOptions;
  /** How changes are watched. */
  readonly watch?: WatchOptions;
  /** Notes for the operator. */
  readonly log?: (message: string) => void;
}

/** A registry whose accounts are on chain. */
export interface SuiAccounts extends AccountRegistry {
  /** The account of an owner, `0x` and 64 hex characters. */
  ofOwner(owner: string, options?: CallOptions): Promise<Account | undefined>;
  /** Calls back when accounts changed on chain; dispose to stop. */
  watch(listener: AccountListener): Disposable;
  /** What the last calls say about the node. */
  health(): BackendHealth;
}

/** A node that answers once in a second again is soon noticed, and one that does not left alone. */
const BREAKER: CircuitBreakerOptions = { failures: 3, pauseMs: 1_000, maxPauseMs: 10_000 };

/**
 * Accounts as the contract keeps them on chain: one read by id, two by key. Nothing is kept here.
 * What is no account of exactly this contract answers as if it was not there; where that cannot be
 * told, because the node does not answer, or what it answers cannot be on chain, calls reject with
 * `chain_unavailable`.
 */
export function suiAccounts(options: SuiAccountsOptions): SuiAccounts {
  return new Registry(options);
}

class Registry implements SuiAccounts {
  readonly #contract: Contract;
  readonly #reader: ObjectReader;
  readonly #watch: AccountWatch;
  readonly #log: (message: string) => void;
  #warned = false;

  constructor(
    { client, packageId, registryId, breaker, watch, log = () => {} }: SuiAccountsOptions,
  ) {
    this.#contract = { packageId: packageId.toLowerCase(), registryId: registryId.toLowerCase() };
    this.#reader = new ObjectReader(client, { ...BREAKER, ...breaker });
    this.#watch = new AccountWatch(client, this.#contract.packageId, log, watch);
    this.#log = log;
  }

  async resolve(publicKey: string, options?: CallOptions): Promise<Account | undefined> {
    options?.signal?.throwIfAborted();
    if (!isPublicKey(publicKey)) return undefined;
    const key = publicKey.toLowerCase();
    const account = await this.#named(keyField(this.#contract, key), options);
    return account?.keys.some((listed) => listed.publicKey === key) ? account : undefined;
  }

  async ofOwner(owner: string, options?: CallOptions): Promise<Account | undefined> {
    options?.signal?.throwIfAborted();
    if (!isObjectId(owner)) return undefined;
    const address = owner.toLowerCase();
    const account = await this.#named(ownerField(this.#contract, address), options);
    return account?.owner === address ? account : undefined;
  }

  async get(accountId: string, options?: CallOptions): Promise<Account | undefined> {
    options?.signal?.throwIfAborted();
    if (!isObjectId(accountId)) return undefined;
    const id = accountId.toLowerCase();
    const object = await this.#reader.read(id, options?.signal);
    if (object === undefined) return undefined;
    const reading = readAccount(object, id, this.#contract.packageId);
    if ("account" in reading) return reading.account;
    if (reading.reason === "unsound") throw unsound();
    if (reading.reason === "version" && !this.#warned) {
      this.#warned = true;
      this.#log("sui: there are accounts of a version that this release does not know: update it");
    }
    return undefined;
  }

  watch(call: AccountListener): Disposable {
    return this.#watch.add((accountId) => {
      this.#reader.forget();
      call(accountId);
    });
  }

  health(): BackendHealth {
    const calls = this.#reader.health;
    return calls.status === "ok" ? this.#watch.health : calls;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#reader.close(new SvcError("chain_unavailable", "The registry is closed"));
    await this.#watch[Symbol.asyncDispose]();
  }

  /** The account that a field of the registry names. */
  async #named(field: IndexField, options?: CallOptions): Promise<Account | undefined> {
    const object = await this.#reader.read(field.fieldId, options?.signal);
    if (object === undefined) return undefined;
    const accountId = field.accountId(object);
    // Its id is made of what it is: nothing else can be there.
    if (accountId === undefined) throw unsound();
    return await this.get(accountId, options);
  }
}

/** The node answered what cannot be on chain: that nobody is listed does not follow. */
function unsound(): SvcError {
  const cause = new Error("The node answered an object that cannot be");
  return new SvcError("chain_unavailable", undefined, { cause });
}
