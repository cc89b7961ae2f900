import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { BoundedMap } from "../../../src/bounded_map.ts";
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
import type { ChainAccount } from "../chain/account_object.ts";
import { AccountWatch, type WatchOptions } from "./account_watch.ts";
import { ObjectReader } from "./object_reader.ts";

/** The client bounds its calls itself. */
interface SuiAccountsOptions extends Contract {
  readonly client: SuiGrpcClient;
  readonly breaker?: CircuitBreakerOptions;
  readonly watch?: WatchOptions;
  readonly log?: (message: string) => void;
}

/** Short pauses, so that a node that works again is soon noticed. */
const BREAKER: CircuitBreakerOptions = { failures: 3, pauseMs: 1_000, maxPauseMs: 10_000 };

/** How many accounts are remembered as such. */
const SEEN = 10_000;

/**
 * Accounts that the contract keeps on chain: one read by id, two by key; nothing is cached. An object
 * that is no account of exactly this contract counts as missing. When the node does not answer, or
 * answers what cannot be on chain, calls reject with `chain_unavailable`.
 */
export class SuiAccounts implements AccountRegistry {
  readonly #contract: Contract;
  readonly #reader: ObjectReader;
  readonly #watch: AccountWatch;
  readonly #log: (message: string) => void;
  /** Ids of objects that were accounts. */
  readonly #seen = new BoundedMap<string, true>(SEEN);
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

  /** The account of an owner, `0x` and 64 hex characters. */
  async ofOwner(owner: string, options?: CallOptions): Promise<Account | undefined> {
    options?.signal?.throwIfAborted();
    if (!isObjectId(owner)) return undefined;
    const address = owner.toLowerCase();
    const account = await this.#named(ownerField(this.#contract, address), options);
    return account?.owner === address ? account : undefined;
  }

  async get(accountId: string, options?: CallOptions): Promise<Account | undefined> {
    const found = await this.read(accountId, options);
    if (found === undefined) return undefined;
    const { version: _, generation: __, ...account } = found;
    return account;
  }

  /** As `get`, with what only accounts on chain have. */
  async read(accountId: string, options?: CallOptions): Promise<ChainAccount | undefined> {
    options?.signal?.throwIfAborted();
    if (!isObjectId(accountId)) return undefined;
    const id = accountId.toLowerCase();
    const object = await this.#reader.read(id, options?.signal);
    if (object === undefined) return undefined;
    const reading = readAccount(object, id, this.#contract.packageId);
    if ("account" in reading) {
      this.#seen.set(id, true);
      return reading.account;
    }
    // An object never changes its type.
    const isLie = reading.reason === "foreign" && this.#seen.has(id);
    if (reading.reason === "unsound" || isLie) throw unsound();
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
    // The id of the field is derived from its name, so nothing else can be there.
    if (accountId === undefined) throw unsound();
    return await this.get(accountId, options);
  }
}

/** The node answered what cannot be on chain, which does not mean that there is no account. */
function unsound(): SvcError {
  const cause = new Error("The node answered an object that cannot be");
  return new SvcError("chain_unavailable", undefined, { cause });
}
