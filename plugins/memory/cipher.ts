import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Cipher, Scope } from "../../src/interfaces/mod.ts";
import type { KeyStore, Sealer, WrappedKey } from "../../src/interfaces/plugin.ts";
import { envelopeCipher } from "../shared/records/envelope_cipher.ts";

const NONCE_BYTES = 12;
const TAG = { authTagLength: 16 };

/** Seals under a random key that ends with it, as `nonce (12) | ciphertext | tag (16)`. */
function randomSealer(): Pick<Sealer, "seal" | "open"> {
  const key = randomBytes(32);
  const encoder = new TextEncoder();
  return {
    seal(bytes, additionalData) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      cipher.setAAD(encoder.encode(additionalData));
      const parts = [nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()];
      return Uint8Array.from(parts.flatMap((part) => [...part]));
    },
    open(bytes, additionalData) {
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES), TAG);
      decipher.setAAD(encoder.encode(additionalData));
      decipher.setAuthTag(bytes.subarray(-TAG.authTagLength));
      const plain = decipher.update(bytes.subarray(NONCE_BYTES, -TAG.authTagLength));
      decipher.final();
      return new Uint8Array(plain);
    },
  };
}

/** Wrapped keys in maps. */
class MemoryKeys implements KeyStore {
  readonly #keys = new Map<string, WrappedKey>();
  /** Id of the newest key by account, scope and generation. */
  readonly #newest = new Map<string, string>();
  readonly #generations = new Map<string, number>();

  put(key: WrappedKey): void {
    this.#keys.set(key.keyId, key);
    this.#newest.set(nameOf(key.accountId, key, key.generation), key.keyId);
  }

  get(keyId: string): WrappedKey | undefined {
    return this.#keys.get(keyId);
  }

  newest(accountId: string, scope: Scope): WrappedKey | undefined {
    const keyId = this.#newest.get(nameOf(accountId, scope, this.generation(accountId)));
    return keyId === undefined ? undefined : this.#keys.get(keyId);
  }

  generation(accountId: string): number {
    return this.#generations.get(accountId) ?? 1;
  }

  nextGeneration(accountId: string): number {
    const next = this.generation(accountId) + 1;
    this.#generations.set(accountId, next);
    return next;
  }

  delete(keyId: string): void {
    this.#keys.delete(keyId);
  }
}

function nameOf(accountId: string, { owner, namespace }: Scope, generation: number): string {
  return JSON.stringify([accountId, owner, namespace, generation]);
}

/** Envelope encryption whose data keys, and the random key that wraps them, end with the process. */
export function memoryCipher(): Cipher {
  return envelopeCipher(randomSealer(), new MemoryKeys());
}
