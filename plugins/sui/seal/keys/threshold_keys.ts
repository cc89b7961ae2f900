import {
  EncryptedObject,
  ExpiredSessionKeyError,
  InvalidPackageError,
  SealClient,
} from "@mysten/seal";
import { Transaction } from "@mysten/sui/transactions";
import { Deadline } from "../../../../src/deadline.ts";
import type { DecryptCredential } from "../../../../src/interfaces/mod.ts";
import { SvcError } from "../../../../src/errors.ts";
import { accountIn, accountType, sealIdentity } from "../../chain/account_object.ts";
import { openSui } from "../../chain/sui_client.ts";
import type {
  AccountState,
  KeyIdentity,
  KeyWork,
  KeyWorkOptions,
  Proof,
  ServerSet,
  UnwrapInput,
  Wrapped,
} from "../calls.ts";
import { chainDown, credentialRefused, keyServersDown } from "../failures.ts";
import { scopeParts } from "./wrapped_key.ts";
import { KeyServerFetch } from "../key_server_fetch.ts";
import { Reads, rememberingClient } from "../remembering_client.ts";
import { ServerChecks } from "../server_checks.ts";
import { Sessions } from "../sessions.ts";

/** Most identities in one request; each costs a key server 30 ms. */
const IDS_PER_REQUEST = 16;
const SECRET_SIZE = 32;
const CLOCK = "0x6";

type SuiClient = ReturnType<typeof openSui>;

/**
 * The work on keys, done with the SDK. Every unwrapping has a client of its own, because the SDK's
 * client keeps what key servers answered for ever and opens it for any session.
 */
export class ThresholdKeys implements KeyWork {
  readonly #options: KeyWorkOptions;
  readonly #client: SuiClient;
  readonly #checks: ServerChecks;
  readonly #sessions: Sessions;
  readonly #set: ServerSet;

  /** @param note Takes notes for the operator. */
  constructor(options: KeyWorkOptions, note: (message: string) => void) {
    const { network, rpcUrl, packageId, servers, threshold } = options;
    this.#options = options;
    const client = openSui({ network, url: rpcUrl });
    const reads = new Reads();
    this.#client = rememberingClient(client, reads);
    this.#checks = new ServerChecks(client, reads, options, note);
    this.#sessions = new Sessions(this.#client, packageId);
    const counted = servers.filter(({ weight }) => weight > 0);
    this.#set = {
      threshold,
      servers: counted.map(({ objectId, weight }) => ({ objectId, weight })),
    };
  }

  async account(accountId: string): Promise<AccountState | undefined> {
    const { objects: [object] } = await this.#client.core.getObjects({
      objectIds: [accountId],
      include: { content: true },
    }).catch((error: unknown) => {
      throw chainDown(error);
    });
    if (object instanceof Error) {
      if ("reason" in object && object.reason === "notFound") return undefined;
      throw chainDown(object);
    }
    const shared = object?.owner.$kind === "Shared" ? object.owner.Shared : undefined;
    const isAccount = object?.type === accountType(this.#options.packageId);
    if (object === undefined || shared === undefined || !isAccount) return undefined;
    const account = accountIn(object.content, accountId);
    if (account === undefined) throw chainDown(new Error("That is no account"));
    const { owner, active, generation, keys } = account;
    const delegates = keys.filter(({ permissions }) => permissions.includes("read"));
    return {
      active,
      generation,
      initialSharedVersion: shared.initialSharedVersion,
      readers: [
        { address: owner },
        ...delegates.map(({ address, expiresAt, namespaces }) => ({
          address,
          ...(expiresAt === undefined ? {} : { expiresAt }),
          ...(namespaces === undefined ? {} : { namespaces }),
        })),
      ],
    };
  }

  async prove(credential: DecryptCredential): Promise<Proof> {
    return await this.#sessions.prove(credential);
  }

  async wrap({ secret, ...identity }: KeyIdentity & { secret: Uint8Array }): Promise<Wrapped> {
    const { packageId } = this.#options;
    // Data sealed for servers that do not hold their keys could never be opened.
    await this.#checks.usable(this.#set);
    const { threshold, servers } = this.#set;
    const serverConfigs = this.#checks.configs(servers);
    const client = new SealClient({ suiClient: this.#client, serverConfigs });
    const id = idOf(identity);
    try {
      const { encryptedObject } = await client.encrypt({ threshold, packageId, id, data: secret });
      return { set: { threshold, servers }, ciphertext: encryptedObject };
    } catch (error) {
      if (error instanceof InvalidPackageError) {
        throw keyServersDown(undefined, "SVC_PACKAGE_ID is not the first version of a package");
      }
      throw chainDown(error);
    }
  }

  async unwrap(input: UnwrapInput): Promise<(Uint8Array | undefined)[]> {
    const { accountId, credential, set, items } = input;
    using deadline = new Deadline(this.#options.timeoutMs);
    const exchange = new KeyServerFetch(deadline.signal);
    const serverConfigs = await this.#checks.usable(set);
    const sessionKey = await this.#sessions.open(credential);
    const client = new SealClient({
      suiClient: this.#client,
      serverConfigs,
      timeout: this.#options.timeoutMs,
      fetch: exchange.fetch,
    });
    const wanted = items.map((item) => ({ ...item, id: idOf({ accountId, ...item }) }));
    const ids = [...new Set(wanted.map(({ id }) => id))];
    const transactions = new Map<string, Uint8Array>();
    for (let at = 0; at < ids.length; at += IDS_PER_REQUEST) {
      const part = ids.slice(at, at + IDS_PER_REQUEST);
      const txBytes = await this.#approval(input, part);
      const { threshold } = set;
      await client.fetchKeys({ ids: part, txBytes, sessionKey, threshold })
        .catch((error: unknown) => {
          throw refusalOf(exchange, error);
        });
      for (const id of part) transactions.set(id, txBytes);
    }
    return await Promise.all(wanted.map(async ({ id, ciphertext }) => {
      if (!belongs(ciphertext, this.#options.packageId, id, set)) return undefined;
      try {
        const txBytes = transactions.get(id)!;
        const secret = await client.decrypt({ data: ciphertext, sessionKey, txBytes });
        return secret.length === SECRET_SIZE ? new Uint8Array(secret) : undefined;
      } catch {
        return undefined;
      }
    }));
  }

  /** Builds the transaction by which key servers ask the contract whether the caller may read. */
  async #approval(
    { accountId, initialSharedVersion, named }: UnwrapInput,
    ids: readonly string[],
  ): Promise<Uint8Array> {
    const tx = new Transaction();
    const shared = (objectId: string, version: string) =>
      tx.sharedObjectRef({ objectId, initialSharedVersion: version, mutable: false });
    const bytes = (value: Uint8Array) => tx.pure.vector("u8", value);
    const name = named === undefined ? "seal_approve" : "seal_approve_namespace";
    for (const id of ids) {
      tx.moveCall({
        target: `${this.#options.packageId}::account::${name}`,
        arguments: [
          bytes(Uint8Array.fromHex(id)),
          ...(named === undefined ? [] : scopeParts(named).map(bytes)),
          shared(accountId, initialSharedVersion),
          shared(CLOCK, "1"),
        ],
      });
    }
    // All inputs are given, so building asks no node.
    return await tx.build({ onlyTransactionKind: true });
  }
}

/** An identity in the form of the SDK, hex. */
function idOf({ accountId, generation, scope }: KeyIdentity): string {
  return sealIdentity(accountId, generation, scope).toHex();
}

/** Whether an encrypted object is for this identity and was made for these servers. */
function belongs(
  ciphertext: Uint8Array,
  packageId: string,
  id: string,
  { threshold, servers }: ServerSet,
): boolean {
  try {
    const parsed = EncryptedObject.parse(ciphertext);
    const total = servers.reduce((sum, { weight }) => sum + weight, 0);
    return parsed.packageId === packageId && parsed.id === id &&
      parsed.threshold === threshold && parsed.services.length === total &&
      servers.every(({ objectId, weight }) =>
        parsed.services.filter(([service]) => service === objectId).length === weight
      );
  } catch {
    return false;
  }
}

/**
 * The error for a failed exchange. The SDK reports only the commonest error of the servers, and none
 * when they answered wrong keys, so this goes by the counts.
 */
function refusalOf(exchange: KeyServerFetch, error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  if (error instanceof ExpiredSessionKeyError) return credentialRefused(error);
  if (exchange.refused > 0 && exchange.refused >= exchange.failed) {
    return credentialRefused(error);
  }
  return keyServersDown(error);
}
