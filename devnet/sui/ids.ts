import { bcs } from "@mysten/sui/bcs";
import { fromBase58, toBase58 } from "@mysten/sui/utils";
import { blake2b } from "@noble/hashes/blake2.js";
import { type ChainObject, concat } from "./object.ts";

const TEXT = new TextEncoder();

/** BLAKE2b-256. */
export function hash(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(blake2b(bytes, { dkLen: 32 }));
}

/** A digest of some text in Base58, as transaction and object digests are written. */
export function textDigest(text: string): string {
  return toBase58(hash(TEXT.encode(text)));
}

/**
 * Id of the n-th object a transaction creates: BLAKE2b-256 of `0xf1 | digest | index (u64, LE)`, as
 * on Sui.
 *
 * @param digest Base58.
 */
export function createdId(digest: string, index: number): string {
  const at = bcs.u64().serialize(index).toBytes();
  return `0x${hash(concat(Uint8Array.of(0xf1), fromBase58(digest), at)).toHex()}`;
}

/** Ids in the order of a seed, for what exists before the first transaction. */
export class SeededIds {
  readonly #seed: number;
  #next = 0;

  /** Ids of one seed. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /** How many have been drawn. */
  get drawn(): number {
    return this.#next;
  }

  /** Continues after ids that an earlier run drew. */
  skipTo(drawn: number): void {
    this.#next = Math.max(this.#next, drawn);
  }

  /** The next id. */
  next(): string {
    return `0x${hash(TEXT.encode(`devnet:${this.#seed}:${this.#next++}`)).toHex()}`;
  }
}

/** Digest of an object: changes with its content, its version and its owner. */
export function objectDigest(object: ChainObject): string {
  const owner = object.owner;
  const who = owner.kind === "address"
    ? owner.address
    : owner.kind === "object"
    ? owner.parent
    : owner.kind;
  return toBase58(hash(concat(TEXT.encode(`${object.id}${object.version}${who}`), object.bcs)));
}
