import { bls12_381 } from "@noble/curves/bls12-381.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concat } from "../sui/object.ts";

// Boneh-Franklin over BLS12-381 as Seal has it: master public keys in G2 (96 bytes), identities
// hashed to G1, user keys in G1 (48 bytes), delivered under ElGamal in G1.

const G1 = bls12_381.G1.Point;
const G2 = bls12_381.G2.Point;
const SCALARS = bls12_381.fields.Fr;
const TEXT = new TextEncoder();
const IDENTITY_DOMAIN = TEXT.encode("SUI-SEAL-IBE-BLS12381-00");
const POSSESSION_DOMAIN = TEXT.encode("SUI-SEAL-IBE-BLS12381-POP-00");

/** A point of G1. */
export type G1Point = InstanceType<typeof G1>;

/** An ElGamal ciphertext of a point: (g·r, m + pk·r). */
export type Encrypted = readonly [G1Point, G1Point];

/** A scalar that is not zero. @param bytes Big-endian, of any length: reduced. */
export function scalar(bytes: Uint8Array): bigint {
  const value = SCALARS.create(BigInt(`0x${bytes.toHex()}`));
  return value === 0n ? 1n : value;
}

/** A scalar of a text. */
export function scalarOf(text: string): bigint {
  return scalar(sha512(TEXT.encode(text)));
}

/** The point of 48 bytes. Throws when they are none. */
export function pointOf(bytes: Uint8Array): G1Point {
  return G1.fromBytes(bytes);
}

/** Point of a full identity: package id, then the inner id. */
export function identityPoint(fullId: Uint8Array): G1Point {
  const hashed = bls12_381.G1.hashToCurve(concat(IDENTITY_DOMAIN, fullId));
  return G1.fromAffine(hashed.toAffine());
}

/** A master key of a key server, or a share of one. */
export class MasterKey {
  readonly #secret: bigint;

  /** @param secret Not zero. */
  constructor(secret: bigint) {
    this.#secret = SCALARS.create(secret);
  }

  /** 96 bytes. */
  get publicKey(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(G2.BASE.multiply(this.#secret).toBytes());
  }

  /** The user key of an identity. */
  extract(fullId: Uint8Array): G1Point {
    return identityPoint(fullId).multiply(this.#secret);
  }

  /** Proof that the server of an object has the secret of its public key; 48 bytes. */
  possession(objectId: Uint8Array): Uint8Array {
    const message = concat(POSSESSION_DOMAIN, this.publicKey, objectId);
    return bls12_381.shortSignatures.hash(message).multiply(this.#secret).toBytes();
  }

  /**
   * Shares of the secret, any `threshold` of which make it (Shamir): the polynomial's other
   * coefficients derive from the seed.
   */
  shares(count: number, threshold: number, seed: string): MasterKey[] {
    const coefficients = [this.#secret];
    for (let power = 1; power < threshold; power++) coefficients.push(scalarOf(`${seed}:${power}`));
    return Array.from({ length: count }, (_, index) => {
      const at = BigInt(index + 1);
      return new MasterKey(
        coefficients.reduceRight((sum, next) => SCALARS.add(SCALARS.mul(sum, at), next), 0n),
      );
    });
  }
}

/** Encrypts a point to an ElGamal public key. */
export function encryptTo(publicKey: G1Point, message: G1Point): Encrypted {
  const random = scalar(crypto.getRandomValues(new Uint8Array(64)));
  return [G1.BASE.multiply(random), publicKey.multiply(random).add(message)];
}

/**
 * Joins what parties encrypted with their shares into what the whole key would have encrypted:
 * both are linear, so Lagrange's coefficients at 0 do it under the encryption.
 *
 * @param partials By party: 1, 2, …
 */
export function combine(partials: ReadonlyMap<number, Encrypted>): Encrypted {
  let first = G1.ZERO;
  let second = G1.ZERO;
  for (const [party, [c0, c1]] of partials) {
    let weight = 1n;
    for (const other of partials.keys()) {
      if (other === party) continue;
      const denominator = SCALARS.inv(SCALARS.create(BigInt(other - party)));
      weight = SCALARS.mul(weight, SCALARS.mul(BigInt(other), denominator));
    }
    first = first.add(c0.multiply(weight));
    second = second.add(c1.multiply(weight));
  }
  return [first, second];
}
