import { SimulationError } from "@mysten/sui/client";
import { type GrpcTypes, RpcError, type SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction, TransactionDataBuilder } from "@mysten/sui/transactions";
import { fromBase58, toHex } from "@mysten/sui/utils";
import { blake2b } from "@noble/hashes/blake2.js";
import { SvcError } from "../../../../src/errors.ts";
import { rpcUrlOf, type SuiNetwork } from "../../../../src/wire/networks.ts";
import { openSui } from "../sui_client.ts";
import { importedFunctions } from "./imports.ts";
import { describedSignature } from "./signature.ts";

/** Longest wait for the result of a publication, and for nodes to show it, in milliseconds. */
const TIMEOUT_MS = 60_000;

/** How many functions are looked up at once. */
const LOOKUPS_AT_ONCE = 8;

/** Largest budget that a node may propose for a publication, in MIST: many times its storage. */
const MOST_GAS = 2_000_000_000n;

/** A publication makes a package, a registry and an upgrade cap, in any order. */
const OBJECTS_MADE = 3;

/** Digests of the first checkpoints of the public networks (`GetServiceInfo.chain_id`). */
const GENESIS: ReadonlyMap<string, string> = new Map([
  ["mainnet", "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S"],
  ["testnet", "69WiPg3DAQiwdxfncX6wYQ2siKwAe6L9BZthQea3JNMD"],
]);

/** An imported function that differs on the chain from what the package was compiled against. */
interface Difference {
  /** `package::module::name`. */
  readonly target: string;
  /** Signature in the bytecode. */
  readonly expected: string;
  /** Signature on the chain; `undefined` when there is no such function. */
  readonly found: string | undefined;
}

/** How many functions a check compared, and which differ. */
interface ImportCheck {
  readonly checked: number;
  readonly differences: readonly Difference[];
}

/** A package to publish. */
interface Publication {
  /** Bytecode of the modules. */
  readonly modules: readonly Uint8Array[];
  /** Ids of the packages it links to. */
  readonly dependencies: readonly string[];
  /** Seed of the wallet that pays: an Ed25519 private key, 32 bytes. */
  readonly seed: Uint8Array;
  /** Whether the package becomes immutable in the same transaction. */
  readonly burnUpgradeCap: boolean;
  /** Called with the digest before the transaction is sent, so that it can always be looked up. */
  readonly announce?: (digest: string) => void;
}

/** A published package. */
interface PublishedPackage {
  readonly packageId: string;
  /** Id of the shared registry. */
  readonly registryId: string;
  /** Id of the object that allows upgrades; absent when it was burned. */
  readonly upgradeCapId: string | undefined;
  /** Address of the wallet that paid and holds the upgrade cap. */
  readonly sender: string;
  /** Of the transaction. */
  readonly digest: string;
}

/** First byte of what a new object's id is the hash of (`HashingIntentScope::RegularObjectId`). */
const REGULAR_OBJECT_ID = 0xf1;

/**
 * Ids of the objects that a transaction creates, packages included, in their order: BLAKE2b-256 of
 * `0xf1 | digest (32) | number from 0 (u64, little-endian)`. So they are known without a node.
 *
 * @param digest Of the transaction, Base58.
 * @param count How many; a transaction may create fewer.
 * @returns `0x` and 64 lower-case hex characters each.
 */
export function createdIds(digest: string, count: number): string[] {
  const preimage = new Uint8Array(1 + 32 + 8);
  preimage[0] = REGULAR_OBJECT_ID;
  preimage.set(fromBase58(digest), 1);
  return Array.from({ length: count }, (_, number) => {
    new DataView(preimage.buffer).setBigUint64(33, BigInt(number), true);
    return "0x" + toHex(blake2b(preimage, { dkLen: 32 }));
  });
}

const isRpcCode = (thrown: unknown, code: string): boolean =>
  thrown instanceof RpcError && thrown.code === code;

/** Checks and publishes packages on one chain. */
export class ContractPublisher {
  readonly #client: SuiGrpcClient;

  constructor(client: SuiGrpcClient) {
    this.#client = client;
  }

  /**
   * Compares the signature of every function that modules import with the chain's.
   *
   * @throws {SvcError} `chain_unavailable`, `invalid_parameter` for a node of another network than
   * the client's.
   */
  async check(modules: readonly Uint8Array[]): Promise<ImportCheck> {
    await assertChain(this.#client);
    const imported = importedFunctions(modules);
    const differences: Difference[] = [];
    for (let i = 0; i < imported.length; i += LOOKUPS_AT_ONCE) {
      await Promise.all(
        imported.slice(i, i + LOOKUPS_AT_ONCE).map(async (one) => {
          const found = await this.#signature(one.packageId, one.module, one.name);
          if (found === one.signature) return;
          const target = `${one.packageId}::${one.module}::${one.name}`;
          differences.push({ target, expected: one.signature, found });
        }),
      );
    }
    differences.sort((a, b) => a.target < b.target ? -1 : 1);
    return { checked: imported.length, differences };
  }

  async #signature(packageId: string, moduleName: string, name: string) {
    let descriptor: GrpcTypes.FunctionDescriptor | undefined;
    try {
      const call = this.#client.movePackageService.getFunction({ packageId, moduleName, name });
      descriptor = (await call.response).function;
    } catch (cause) {
      if (isRpcCode(cause, "NOT_FOUND")) return undefined;
      throw new SvcError("chain_unavailable", undefined, { cause });
    }
    try {
      return descriptor === undefined ? undefined : describedSignature(descriptor);
    } catch {
      return "a signature that cannot be read";
    }
  }

  /**
   * Publishes a package, once, and waits until the chain shows it. The ids of the new objects follow
   * from what is signed, so that a node cannot name others in their place.
   *
   * @throws {SvcError} `invalid_transaction` when the chain refuses it, `chain_unavailable` when the
   * chain cannot be reached; the message names the transaction if it may have happened all the same.
   */
  async publish(publication: Publication): Promise<PublishedPackage> {
    const signer = Ed25519Keypair.fromSecretKey(publication.seed);
    const sender = signer.toSuiAddress();
    const bytes = await this.#build(publication, sender);
    const { signature } = await signer.signTransaction(bytes);
    const digest = TransactionDataBuilder.getDigestFromBytes(bytes);
    publication.announce?.(digest);
    await this.#execute(bytes, signature, digest);
    const made = await this.#result(digest, publication.burnUpgradeCap);
    return { ...made, sender, digest };
  }

  async #build(publication: Publication, sender: string): Promise<Uint8Array<ArrayBuffer>> {
    const transaction = new Transaction();
    transaction.setSender(sender);
    const cap = transaction.publish({
      modules: publication.modules.map((module) => [...module]),
      dependencies: [...publication.dependencies],
    });
    if (publication.burnUpgradeCap) {
      transaction.moveCall({ target: "0x2::package::make_immutable", arguments: [cap] });
    } else transaction.transferObjects([cap], sender);
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = await transaction.build({ client: this.#client });
    } catch (cause) {
      // The SDK wraps what the node answered to the simulation.
      const inner = cause instanceof SimulationError ? cause.cause : cause;
      if (inner instanceof RpcError && inner.code !== "INVALID_ARGUMENT") {
        throw new SvcError("chain_unavailable", undefined, { cause });
      }
      const text = `The transaction does not work: has the wallet ${sender} enough SUI for gas?`;
      throw new SvcError("invalid_transaction", text, { cause });
    }
    const { budget } = TransactionDataBuilder.fromBytes(bytes).gasData;
    if (BigInt(budget ?? 0) <= MOST_GAS) return bytes;
    const text =
      `The node asks for a gas budget of ${budget} MIST, more than a publication can cost`;
    throw new SvcError("invalid_transaction", text);
  }

  async #execute(bytes: Uint8Array, signature: string, digest: string): Promise<void> {
    let result;
    try {
      result = await this.#client.core.executeTransaction({
        transaction: bytes,
        signatures: [signature],
      });
    } catch (cause) {
      if (isRpcCode(cause, "INVALID_ARGUMENT")) {
        throw new SvcError("invalid_transaction", "The chain refused the transaction", { cause });
      }
      // It may have happened; the look-up that follows decides.
      return;
    }
    if (result.FailedTransaction !== undefined) {
      const { error } = result.FailedTransaction.status;
      const text = `The chain refused the package, transaction ${digest}: ${error?.message ?? ""}`;
      throw new SvcError("invalid_transaction", text);
    }
  }

  async #result(
    digest: string,
    burned: boolean,
  ): Promise<Omit<PublishedPackage, "sender" | "digest">> {
    const result = await this.#client.core.waitForTransaction({
      digest,
      timeout: TIMEOUT_MS,
      include: { effects: true, objectTypes: true },
    }).catch((cause) => {
      const text =
        `It is not known whether the package was published: look transaction ${digest} ` +
        "up before trying again";
      throw new SvcError("chain_unavailable", text, { cause });
    });
    const { effects, objectTypes } = result.Transaction ?? {};
    const ids = createdIds(digest, OBJECTS_MADE);
    const created =
      effects?.changedObjects.filter((one) =>
        one.idOperation === "Created" && ids.includes(one.objectId)
      ) ?? [];
    const typed = (pattern: RegExp) =>
      created.find(({ objectId }) => pattern.test(objectTypes?.[objectId] ?? ""))?.objectId;
    const packageId = created.find((one) => one.outputState === "PackageWrite")?.objectId;
    const registryId = typed(/::account::Registry$/);
    const upgradeCapId = burned ? undefined : typed(/^0x0*2::package::UpgradeCap$/);
    const isCapMissing = upgradeCapId === undefined && !burned;
    if (packageId === undefined || registryId === undefined || isCapMissing) {
      const text = `What the node says about transaction ${digest} cannot be what it made: ` +
        "look it up at another node before trying again";
      throw new SvcError("invalid_transaction", text);
    }
    return { packageId, registryId, upgradeCapId };
  }
}

/**
 * A publisher for a chain.
 *
 * @param rpcUrl Address of a node; the network's public one when empty.
 */
export function openPublisher(network: SuiNetwork, rpcUrl: string): ContractPublisher {
  const url = rpcUrlOf({ network, rpcUrl });
  return new ContractPublisher(openSui({ network, url, timeoutMs: TIMEOUT_MS }));
}

/**
 * Checks that a node belongs to the network of its client. `localnet` is any chain that is not public.
 *
 * @throws {SvcError} `invalid_parameter` when it belongs to another one, `chain_unavailable`.
 */
async function assertChain(client: SuiGrpcClient): Promise<void> {
  let chainId: string;
  try {
    const { response } = await client.ledgerService.getServiceInfo({});
    chainId = response.chainId ?? "";
  } catch (cause) {
    throw new SvcError("chain_unavailable", undefined, { cause });
  }
  const name = [...GENESIS].find(([, digest]) => digest === chainId)?.[0];
  const expected = GENESIS.has(client.network) ? client.network : undefined;
  if (name === expected) return;
  const text = `SVC_SUI_NETWORK is ${client.network}, but the node is of ` +
    (name ?? "another chain than mainnet and testnet");
  throw new SvcError("invalid_parameter", text);
}
