import { ed25519 } from "@noble/curves/ed25519.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { blake2b } from "@noble/hashes/blake2.js";
import { sha256 } from "@noble/hashes/sha2.js";

/** A Sui wallet: one key, and personal messages signed with it. */
export interface Wallet {
  /** Address of the key. */
  readonly address: string;
  /** Base64 of flag, signature and public key. */
  signPersonalMessage(text: string): string;
}

function wallet(
  flag: number,
  publicKey: Uint8Array,
  sign: (digest: Uint8Array) => Uint8Array,
): Wallet {
  return {
    address: `0x${blake2b(Uint8Array.of(flag, ...publicKey), { dkLen: 32 }).toHex()}`,
    signPersonalMessage(text) {
      const message = new TextEncoder().encode(text);
      const length = message.length < 128
        ? [message.length]
        : [message.length & 0x7f | 0x80, message.length >> 7];
      const intent = Uint8Array.of(3, 0, 0, ...length, ...message);
      const signature = sign(blake2b(intent, { dkLen: 32 }));
      return Uint8Array.of(flag, ...signature, ...publicKey).toBase64();
    },
  };
}

/** A wallet with an Ed25519 key. */
export function ed25519Wallet(seed = crypto.getRandomValues(new Uint8Array(32))): Wallet {
  return wallet(0, ed25519.getPublicKey(seed), (digest) => ed25519.sign(digest, seed));
}

/** A wallet with a secp256k1 key. */
export function secp256k1Wallet(): Wallet {
  const secret = secp256k1.utils.randomSecretKey();
  return wallet(
    1,
    secp256k1.getPublicKey(secret, true),
    (digest) => secp256k1.sign(sha256(digest), secret, { prehash: false, lowS: true }),
  );
}
