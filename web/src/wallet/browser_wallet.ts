import { makeRecoveryWords, seedOfRecoveryWords } from "../../../src/client/recovery_words.ts";
import { addressOf } from "../../../src/wire/keys.ts";
import { blake2b } from "@noble/hashes/blake2.js";
import { personalMessageDigest } from "../../../src/wire/signing/signing.ts";
import { formatPrivateKey, parsePrivateKey } from "../../../src/wire/signing/private_key.ts";
import { keyOfSeed, type KeyPair, seedOf, sign } from "./ed25519.ts";
import type { Signable, SignedTransaction, Wallet } from "./wallet.ts";

/** A wallet that is a key in this browser, for people who have no wallet program. */
export class BrowserWallet implements Wallet {
  readonly kind = "browser";
  readonly name = "This browser";
  readonly address: string;
  /** The key itself, to be kept. */
  readonly pair: KeyPair;
  /** Recovery words that the key was made of, to be kept, too; earlier keys have none. */
  readonly words: string | undefined;

  /** The wallet of a key that was kept. */
  constructor(pair: KeyPair, words?: string) {
    this.pair = pair;
    this.words = words;
    this.address = addressOf(pair.publicKey);
  }

  /** A wallet with a new key. */
  static async make(): Promise<BrowserWallet> {
    const words = makeRecoveryWords();
    const seed = await seedOfRecoveryWords(words);
    return new BrowserWallet(await keyOfSeed(seed!), words);
  }

  /**
   * The wallet of a recovery key.
   *
   * @param text Recovery words, `suiprivkey1…`, or 64 hex characters.
   * @returns `undefined` for anything else.
   */
  static async restore(text: string): Promise<BrowserWallet | undefined> {
    const given = parsePrivateKey(text.trim());
    if (given !== undefined) return new BrowserWallet(await keyOfSeed(given));
    const seed = await seedOfRecoveryWords(text);
    if (seed === undefined) return undefined;
    const words = text.trim().toLowerCase().split(/\s+/).join(" ");
    return new BrowserWallet(await keyOfSeed(seed), words);
  }

  /** The recovery key, words or `suiprivkey1…`: whoever has it owns the account. */
  async recoveryKey(): Promise<string> {
    return this.words ?? formatPrivateKey(await seedOf(this.pair.privateKey));
  }

  async signPersonalMessage(text: string): Promise<string> {
    const digest = new Uint8Array(
      personalMessageDigest(new TextEncoder().encode(text)),
    );
    return await this.#sign(digest);
  }

  async signTransaction({ bytes }: Signable): Promise<SignedTransaction> {
    const intended = new Uint8Array(3 + bytes.length); // intent 0 0 0: a transaction
    intended.set(bytes, 3);
    const digest = new Uint8Array(blake2b(intended, { dkLen: 32 }));
    return { bytes, signature: await this.#sign(digest) };
  }

  async #sign(digest: Uint8Array<ArrayBuffer>): Promise<string> {
    const signature = await sign(this.pair.privateKey, digest);
    const bytes = new Uint8Array(97); // flag 0 is Ed25519
    bytes.set(signature, 1);
    bytes.set(Uint8Array.fromHex(this.pair.publicKey), 65);
    return bytes.toBase64();
  }
}
