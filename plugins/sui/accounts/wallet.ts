/**
 * Accounts on chain for terminal commands, and a wallet that changes its owner's account.
 *
 * @module
 */
import { SimulationError } from "@mysten/sui/client";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import type { Transaction } from "@mysten/sui/transactions";
import { type ErrorCode, SvcError } from "../../../src/errors.ts";
import type { Account, AccountAdmin, NewKey } from "../../../src/interfaces/mod.ts";
import { rpcUrlOf, type SuiNetwork } from "../../../src/wire/networks.ts";
import { openSui } from "../chain/sui_client.ts";
import { checkNamespaces } from "../../shared/accounts/account_rules.ts";
import { checkBinds } from "../chain/account_object.ts";
import { SuiAccounts } from "./accounts.ts";
import {
  addDelegateKey,
  createAccount,
  type Deployment,
  removeDelegateKeys,
  setAccountActive,
} from "./transactions.ts";

/** Where the contract is, and the wallet. */
interface WalletOptions {
  readonly network: SuiNetwork;
  /** Address of a node; the network's public one when empty. */
  readonly rpcUrl: string;
  readonly packageId: string;
  readonly registryId: string;
  /** The owner's Ed25519 seed, 32 bytes; without it accounts are only read. */
  readonly seed?: Uint8Array | undefined;
}

/** Errors for the contract's abort codes. */
const ABORTS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  1: ["permission_denied", "The wallet is not the account's owner"],
  4: ["key_exists", "An account lists the key"],
  5: ["not_found", "The account does not list the key"],
  6: ["invalid_parameter", "An account has at most 20 keys"],
  7: ["invalid_parameter", "The label is too long"],
  8: ["invalid_parameter", "The account is deactivated"],
  9: ["account_exists", "The owner has an account"],
  10: ["invalid_parameter", "The contract has another version: update this program"],
  11: ["invalid_parameter", "The permissions are not valid"],
  12: ["invalid_parameter", "The expiry is in the past"],
  14: ["invalid_parameter", "The namespaces are not valid"],
};

/** The abort code of a transaction that the chain refused. */
function abortOf(thrown: unknown): readonly [ErrorCode, string] | undefined {
  if (!(thrown instanceof SimulationError)) return undefined;
  const code = thrown.executionError?.MoveAbort?.abortCode;
  return code === undefined ? undefined : ABORTS[code];
}

/** Accounts on chain, as terminal commands use them. Contacts no node before the first call. */
export class WalletAccounts extends SuiAccounts {
  /** Reads the account of any owner; changes the wallet's own. */
  readonly admin: AccountAdmin;
  readonly #client: SuiGrpcClient;
  readonly #deployment: Deployment;
  readonly #signer: Ed25519Keypair | undefined;

  constructor({ network, rpcUrl, packageId, registryId, seed }: WalletOptions) {
    const client = openSui({ network, url: rpcUrlOf({ network, rpcUrl }) });
    super({ client, packageId, registryId });
    this.#client = client;
    this.#deployment = { packageId, registry: registryId };
    this.#signer = seed && Ed25519Keypair.fromSecretKey(seed);
    const { address } = this;
    this.admin = {
      create: (owner) => this.#create(owner),
      list: async () => {
        const own = address === undefined ? undefined : await this.ofOwner(address);
        return own === undefined ? [] : [own];
      },
      ofOwner: (owner) => this.ofOwner(owner),
      addKey: (accountId, key) => this.#addKey(accountId, key),
      removeKey: (accountId, publicKey) =>
        this.#change(accountId, removeDelegateKeys(this.#deployment, accountId, [publicKey])),
      setActive: (accountId, active) =>
        this.#change(accountId, setAccountActive(this.#deployment, accountId, active)),
    };
  }

  /** Address of the wallet, if there is one. */
  get address(): string | undefined {
    return this.#signer?.toSuiAddress();
  }

  async #create(owner: string): Promise<Account> {
    if (owner !== this.address) {
      throw new SvcError("invalid_parameter", "On chain the wallet itself is the owner");
    }
    if (await this.ofOwner(owner) !== undefined) throw new SvcError("account_exists");
    await this.#execute(createAccount(this.#deployment));
    return found(await this.ofOwner(owner));
  }

  async #addKey(accountId: string, { proof, ...key }: NewKey): Promise<Account> {
    if (proof === undefined) {
      throw new SvcError("invalid_parameter", "On chain a key must prove that somebody holds it");
    }
    if (key.namespaces !== undefined) {
      checkNamespaces(key.namespaces);
      checkBinds(found(await this.read(accountId)).version);
    }
    const transaction = addDelegateKey(this.#deployment, accountId, { ...key, proof });
    return await this.#change(accountId, transaction);
  }

  async #change(accountId: string, transaction: Transaction): Promise<Account> {
    await this.#execute(transaction);
    return found(await this.get(accountId));
  }

  /** Signs and executes, once, and waits until reads see it. */
  async #execute(transaction: Transaction): Promise<void> {
    const signer = this.#signer;
    if (signer === undefined) throw new SvcError("invalid_parameter", "There is no wallet");
    try {
      const result = await this.#client.signAndExecuteTransaction({ transaction, signer });
      if (result.$kind !== "Transaction") throw new Error("the transaction failed");
      await this.#client.waitForTransaction({ result });
    } catch (cause) {
      if (cause instanceof SvcError) throw cause;
      const [code, text] = abortOf(cause) ?? [
        "chain_unavailable",
        "The transaction did not succeed, or the chain's node did not answer: look before you " +
        "repeat it. The wallet needs SUI for gas",
      ];
      throw new SvcError(code, text, { cause });
    }
  }
}

function found<Found extends Account>(account: Found | undefined): Found {
  if (account === undefined) throw new SvcError("not_found", "There is no such account");
  return account;
}
