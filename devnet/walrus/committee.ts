import { bls12381_min_pk_verify_aggregate as verifyAggregate } from "@mysten/walrus-wasm";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { blobIdNumber } from "./blob_id.ts";
import { StorageConfirmation } from "./layouts.ts";
import { maxFaulty } from "./sizes.ts";

// Storage nodes sign with BLS12-381, public keys in G1 (48 bytes), signatures in G2 (96 bytes).
const SIGNATURES = bls12_381.longSignatures;
const SCALARS = bls12_381.fields.Fr;
const DOMAIN = "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_";

/** A storage node: a share of the shards and a key. */
export interface StorageNode {
  /** Place in the committee. */
  readonly index: number;
  /** Id of its staking pool, which is its node id. */
  readonly id: string;
  /** 48 bytes. */
  readonly publicKey: Uint8Array;
  /** Shards it stores. */
  readonly shards: readonly number[];
}

/** A certificate that a blob is stored. */
export interface Certificate {
  /** Places of the signers in the committee. */
  readonly signers: readonly number[];
  /** BCS of the {@linkcode StorageConfirmation} they signed. */
  readonly message: Uint8Array;
  /** Aggregate signature, 96 bytes. */
  readonly signature: Uint8Array;
}

/** The message that a node signs when it stores a blob. @param objectId Of a deletable blob. */
export function confirmationMessage(
  epoch: number,
  blobId: string,
  objectId: string | undefined,
): Uint8Array {
  return StorageConfirmation.serialize({
    intent: [1, 0, 3],
    epoch,
    blob_id: blobIdNumber(blobId) ?? 0n,
    persistence: objectId === undefined ? { Permanent: true } : { Deletable: objectId },
  }).toBytes();
}

function secretScalar(seed: number, index: number): bigint {
  const digest = sha512(new TextEncoder().encode(`devnet:${seed}:storage-node:${index}`));
  return SCALARS.create(BigInt(`0x${digest.toHex()}`));
}

/** The storage nodes of a network, the same in every epoch. */
export class Committee {
  /** The nodes in their order. */
  readonly nodes: readonly StorageNode[];
  /** Number of shards, all of them assigned. */
  readonly shards: number;
  readonly #secrets: readonly bigint[];
  readonly #byShard: readonly StorageNode[];

  /** @param ids One id per node. */
  constructor(shards: number, ids: readonly string[], seed: number) {
    this.shards = shards;
    this.#secrets = ids.map((_, index) => secretScalar(seed, index));
    this.nodes = ids.map((id, index) => ({
      index,
      id,
      publicKey: SIGNATURES.getPublicKey(SCALARS.toBytes(this.#secret(index))).toBytes(),
      shards: Array.from({ length: shards }, (_, shard) => shard)
        .filter((shard) => shard % ids.length === index),
    }));
    this.#byShard = Array.from({ length: shards }, (_, shard) => {
      const node = this.nodes[shard % ids.length];
      if (node === undefined) throw new RangeError("a committee needs nodes");
      return node;
    });
  }

  #secret(index: number): bigint {
    const secret = this.#secrets[index];
    if (secret === undefined) throw new RangeError(`no node ${index}`);
    return secret;
  }

  /** The node that stores a shard. */
  nodeOf(shard: number): StorageNode | undefined {
    return this.#byShard[shard];
  }

  /** The key that all nodes' signatures together verify with. */
  get aggregateKey(): Uint8Array {
    return SIGNATURES.aggregatePublicKeys(this.nodes.map(({ publicKey }) => publicKey)).toBytes();
  }

  /** Signs a message as one node. */
  sign(index: number, message: Uint8Array): Uint8Array {
    return this.#signWith(this.#secret(index), message);
  }

  /**
   * Certificate of several nodes. All sign the same message, so the sum of their signatures is one
   * signature with the sum of their keys: it costs as much as one.
   */
  certify(signers: readonly number[], message: Uint8Array): Certificate {
    const sum = signers.reduce((total, index) => SCALARS.add(total, this.#secret(index)), 0n);
    return { signers, message, signature: this.#signWith(sum, message) };
  }

  #signWith(secret: bigint, message: Uint8Array): Uint8Array {
    return SIGNATURES.sign(SIGNATURES.hash(message, DOMAIN), SCALARS.toBytes(secret)).toBytes();
  }

  /** Shards of the signers. */
  weight(signers: readonly number[]): number {
    return signers.reduce((sum, index) => sum + (this.nodes[index]?.shards.length ?? 0), 0);
  }

  /** Whether the signers hold more than two thirds of the shards: at least 2f + 1. */
  isQuorum(signers: readonly number[]): boolean {
    return this.weight(signers) > 2 * maxFaulty(this.shards);
  }

  /**
   * Whether the aggregate signature is the signers' over the message. Walrus' own implementation
   * decides: it is faster than ours and did not make the signature.
   */
  verify({ signers, message, signature }: Certificate): boolean {
    const keys = signers.map((index) => this.nodes[index]?.publicKey);
    if (keys.length === 0 || keys.some((key) => key === undefined)) return false;
    try {
      return verifyAggregate(keys, message, signature);
    } catch {
      return false;
    }
  }
}
