import { bcs } from "@mysten/sui/bcs";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Transaction } from "@mysten/sui/transactions";
import {
  BINDS_SINCE,
  type ChainAccount,
  ownerFieldId,
  parseAccount,
} from "../../../plugins/sui/chain/account_object.ts";
import * as contract from "../../../plugins/sui/accounts/transactions.ts";
import type { SuiNetwork } from "../../../src/wire/networks.ts";
import type { Account, NewKey } from "../owner/account.ts";
import type { Owner } from "../owner/owner.ts";
import type { Wallet } from "../wallet/wallet.ts";
import { refusalOf, REFUSALS, TOO_OLD } from "./chain_failure.ts";
import { executeSponsored, sponsor } from "./sponsor.ts";

/** Where the accounts are. */
export interface ChainPlace {
  /** Name of the chain. */
  readonly network: SuiNetwork;
  /** Address of a node that speaks gRPC. */
  readonly rpcUrl: string;
  /** Package of the contract. */
  readonly packageId: string;
  /** Registry of the contract. */
  readonly registryId: string;
  /** Base address of the relayer. */
  readonly relayerUrl: string;
  /** Whether the relayer pays for the transactions. */
  readonly sponsored: boolean;
}

/** Keys that the contract lets an account have. */
const MAX_KEYS = 20;
/** A node may answer from a moment before the transaction: so often it is asked, so far apart. */
const READS = 20;
const PAUSE_MS = 250;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Changes to an account on a chain: transactions that the owner's wallet signs. */
export class ChainOwner implements Owner {
  readonly #place: ChainPlace;
  readonly #client: SuiGrpcClient;
  readonly #deployment: contract.Deployment;

  /** Contacts nobody yet. */
  constructor(place: ChainPlace) {
    this.#place = place;
    this.#client = new SuiGrpcClient({ network: place.network, baseUrl: place.rpcUrl });
    this.#deployment = { packageId: place.packageId, registry: place.registryId };
  }

  async open(wallet: Wallet): Promise<Account> {
    const known = await this.#ofOwner(wallet.address);
    if (known !== undefined) return known;
    await this.#execute(wallet, contract.createAccount(this.#deployment));
    return await this.#until(() => this.#ofOwner(wallet.address), () => true);
  }

  async addKey(wallet: Wallet, accountId: string, key: NewKey): Promise<Account> {
    // An earlier try may have succeeded though its answer was lost; the contract takes a key once.
    const known = await this.#get(accountId);
    if (known !== undefined && listsAs(known, key)) return known;
    // Whoever pays says only that the transaction would fail.
    if (known !== undefined && isFull(known)) throw new Error(REFUSALS[6]);
    if (key.namespaces !== undefined) await this.#checkBinds(accountId);
    const transaction = contract.addDelegateKey(this.#deployment, accountId, {
      publicKey: key.public_key,
      proof: key.proof,
      permissions: key.permissions,
      label: key.label,
      expiresAt: key.expires_at === undefined ? undefined : Date.parse(key.expires_at),
      namespaces: key.namespaces,
    });
    await this.#execute(wallet, transaction);
    return await this.#account(
      accountId,
      ({ keys }) => keys.some(({ public_key: listed }) => listed === key.public_key),
    );
  }

  /** The contract of an earlier version keeps no namespaces: the key would open every one. */
  async #checkBinds(accountId: string): Promise<void> {
    const object = await this.#read(accountId);
    if (object === undefined) return;
    if (parseAccount(object.content).version < BINDS_SINCE) throw new Error(TOO_OLD);
  }

  async removeKey(wallet: Wallet, accountId: string, publicKey: string): Promise<Account> {
    return await this.#removeKeys(wallet, accountId, [publicKey]);
  }

  async removeAllKeys(wallet: Wallet, accountId: string): Promise<Account> {
    const account = await this.#account(accountId, () => true);
    if (account.keys.length === 0) return account;
    return await this.#removeKeys(wallet, accountId, account.keys.map((key) => key.public_key));
  }

  /** One transaction: all of them or none. */
  async #removeKeys(wallet: Wallet, accountId: string, publicKeys: string[]): Promise<Account> {
    const remove = contract.removeDelegateKeys(this.#deployment, accountId, publicKeys);
    await this.#execute(wallet, remove);
    return await this.#account(
      accountId,
      ({ keys }) => !keys.some(({ public_key: listed }) => publicKeys.includes(listed)),
    );
  }

  async setActive(wallet: Wallet, accountId: string, active: boolean): Promise<Account> {
    await this.#execute(wallet, contract.setAccountActive(this.#deployment, accountId, active));
    return await this.#account(accountId, (account) => account.active === active);
  }

  /** Has the wallet sign, and waits until the chain has done it. */
  async #execute(wallet: Wallet, transaction: Transaction): Promise<void> {
    transaction.setSender(wallet.address);
    const digest = this.#place.sponsored
      ? await this.#executeSponsored(wallet, transaction)
      : await this.#executePaid(wallet, transaction);
    const result = await this.#client.core.waitForTransaction({ digest, timeout: 30_000 })
      .catch(() => undefined);
    // Whoever pays is told its digest also when the chain notes a failure.
    if (result?.$kind === "FailedTransaction") {
      throw refusalOf(result.FailedTransaction.status.error?.message);
    }
  }

  async #executePaid(wallet: Wallet, transaction: Transaction): Promise<string> {
    const bytes = await transaction.build({ client: this.#client })
      .catch((error) => Promise.reject(refusalOf(error)));
    const signed = await wallet.signTransaction({
      bytes: new Uint8Array(bytes),
      json: () => transaction.toJSON(),
    }, this.#place.network);
    const result = await this.#client.core.executeTransaction({
      transaction: signed.bytes,
      signatures: [signed.signature],
      include: { effects: true },
    }).catch((error) => Promise.reject(refusalOf(error)));
    if (result.$kind === "FailedTransaction") {
      throw refusalOf(result.FailedTransaction.status.error?.message);
    }
    return result.Transaction.digest;
  }

  async #executeSponsored(wallet: Wallet, transaction: Transaction): Promise<string> {
    const { relayerUrl, network } = this.#place;
    const kind = await transaction.build({ client: this.#client, onlyTransactionKind: true })
      .catch((error) => Promise.reject(refusalOf(error)));
    const { bytes, digest } = await sponsor(relayerUrl, wallet.address, kind);
    const paid = Transaction.from(bytes);
    const same = await paid.build({ onlyTransactionKind: true });
    // The wallet signs what was asked for, whatever the relayer answers.
    const { sender, gasData } = paid.getData();
    if (same.toHex() !== kind.toHex() || sender !== wallet.address) {
      throw new Error("The relayer asked for a signature over something else");
    }
    // A budget of any size would be the wallet's own loss.
    if (gasData.owner === null || gasData.owner === wallet.address) {
      throw new Error("The relayer said it pays, and let this wallet pay");
    }
    const signed = await wallet.signTransaction({ bytes, json: () => paid.toJSON() }, network);
    if (signed.bytes.toHex() !== bytes.toHex()) {
      throw new Error("The wallet changed the transaction; the relayer pays for the one it made");
    }
    await executeSponsored(relayerUrl, digest, signed.signature);
    return digest;
  }

  async #read(objectId: string): Promise<{ content: Uint8Array; type: string } | undefined> {
    const { objects: [object] } = await this.#client.core.getObjects({
      objectIds: [objectId],
      include: { content: true },
    });
    if (object === undefined || object instanceof Error) return undefined;
    return { content: object.content, type: object.type };
  }

  async #ofOwner(owner: string): Promise<Account | undefined> {
    const { registryId, packageId } = this.#place;
    const field = await this.#read(ownerFieldId(registryId, packageId, owner));
    if (field === undefined) return undefined;
    // Field<OwnerKey, ID>: its id, the owner, the account's id.
    const accountId = bcs.Address.parse(field.content.slice(64, 96));
    const account = await this.#get(accountId);
    return account?.owner === owner ? account : undefined;
  }

  async #get(accountId: string): Promise<Account | undefined> {
    const object = await this.#read(accountId);
    return object === undefined ? undefined : shown(parseAccount(object.content));
  }

  #account(accountId: string, isNew: (account: Account) => boolean): Promise<Account> {
    return this.#until(() => this.#get(accountId), isNew);
  }

  async #until(
    ask: () => Promise<Account | undefined>,
    isNew: (account: Account) => boolean,
  ): Promise<Account> {
    for (let read = 1;; read++) {
      const account = await ask();
      if (account !== undefined && isNew(account)) return account;
      // Nothing is told to be done that was not seen: a key may still be listed.
      if (read === READS) {
        throw new Error("The chain does not show the change yet. Reload the page in a moment.");
      }
      await pause(PAUSE_MS);
    }
  }
}

/** Whether an account lists a key with just these permissions and namespaces, and for no longer. */
function listsAs(
  { keys }: Account,
  { public_key, permissions, expires_at, namespaces }: NewKey,
): boolean {
  const listed = keys.find((key) => key.public_key === public_key);
  const end = (text: string | undefined) => text === undefined ? Infinity : Date.parse(text);
  return listed !== undefined && end(listed.expires_at) <= end(expires_at) &&
    isSameList(listed.namespaces, namespaces) &&
    listed.permissions.length === permissions.length &&
    permissions.every((permission) => listed.permissions.includes(permission));
}

function isSameList(some?: readonly string[], others?: readonly string[]): boolean {
  if (some === undefined || others === undefined) return some === others;
  return new Set(some).size === new Set(others).size && some.every((one) => others.includes(one));
}

/** Whether an account has all the keys it may have; those that ended make room. */
function isFull({ keys }: Account): boolean {
  const lasting = keys.filter(({ expires_at: end }) =>
    end === undefined || Date.parse(end) > Date.now()
  );
  return lasting.length >= MAX_KEYS;
}

function shown({ accountId, owner, active, keys }: ChainAccount): Account {
  const time = (at: number) => new Date(at).toISOString();
  return {
    account_id: accountId,
    owner,
    active,
    keys: keys.map(({ publicKey, label, permissions, createdAt, expiresAt, namespaces }) => ({
      public_key: publicKey,
      label,
      permissions,
      created_at: time(createdAt),
      ...(expiresAt === undefined ? {} : { expires_at: time(expiresAt) }),
      ...(namespaces === undefined ? {} : { namespaces }),
    })),
  };
}
