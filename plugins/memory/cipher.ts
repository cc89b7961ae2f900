import type { Cipher, OpenContext, Scope, SealedItem } from "../../src/interfaces/mod.ts";
import { SvcError } from "../../src/errors.ts";
import { Gate } from "./gate.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const VERSION = 1;
const KEY_ID_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES;
const NONCE_BYTES = 12;

/** A scope's data key; the raw bytes exist only inside `wrapped`. */
interface DataKey {
  readonly keyId: string;
  readonly root: CryptoKey;
  readonly wrapped: Bytes;
}

interface KeyScope extends Scope {
  readonly accountId: string;
}

/** Joins members as JSON, which keeps them apart whatever characters they hold. */
function bind(...members: string[]): Bytes {
  return new TextEncoder().encode(JSON.stringify(members));
}

function concat(...parts: Uint8Array[]): Bytes {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

async function encrypt(key: CryptoKey, plain: Uint8Array, additionalData: Bytes): Promise<Bytes> {
  const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const sealed = await crypto.subtle.encrypt(
    { name: "AES-GCM", iv, additionalData },
    key,
    plain.slice(),
  );
  return concat(iv, new Uint8Array(sealed));
}

async function decrypt(key: CryptoKey, sealed: Uint8Array, additionalData: Bytes): Promise<Bytes> {
  const iv = sealed.slice(0, NONCE_BYTES);
  const algorithm = { name: "AES-GCM", iv, additionalData };
  return new Uint8Array(await crypto.subtle.decrypt(algorithm, key, sealed.slice(NONCE_BYTES)));
}

function rootKey(raw: Bytes): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", raw, "HKDF", false, ["deriveKey"]);
}

function memoryKey(root: CryptoKey, memoryId: string): Promise<CryptoKey> {
  return crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: bind("memory", memoryId) },
    root,
    { name: "AES-GCM", length: 256 },
    false,
    ["encrypt", "decrypt"],
  );
}

/** The data keys of one process and the random key that wraps them. */
class Keyring {
  #wrapping: Promise<CryptoKey> | undefined;
  readonly #keys = new Map<string, DataKey>();
  readonly #newest = new Map<string, Promise<DataKey>>();
  readonly #generations = new Map<string, number>();

  /** The key that seals a scope's next record; made once however many ask at a time. */
  async newest(scope: KeyScope): Promise<DataKey> {
    const generation = this.#generations.get(scope.accountId) ?? 1;
    const name = JSON.stringify([scope.accountId, scope.owner, scope.namespace, generation]);
    const key = await this.#newest.getOrInsertComputed(name, () => this.#make(scope));
    if (this.#keys.has(key.keyId)) return key;
    this.#newest.delete(name);
    return await this.newest(scope);
  }

  /** The key with this id, from memory or unwrapped from what came with the record. */
  async find(keyId: string, scope: KeyScope, wrapped?: Uint8Array): Promise<CryptoKey> {
    const known = this.#keys.get(keyId)?.root;
    if (known !== undefined) return known;
    if (wrapped === undefined) throw new RangeError("The data key is unknown");
    return await rootKey(
      await decrypt(await this.#wrappingKey(), wrapped, this.#context(keyId, scope)),
    );
  }

  rotate(accountId: string): void {
    this.#generations.set(accountId, (this.#generations.get(accountId) ?? 1) + 1);
  }

  destroy(keyId: string): void {
    this.#keys.delete(keyId);
  }

  #wrappingKey(): Promise<CryptoKey> {
    return this.#wrapping ??= crypto.subtle.generateKey(
      { name: "AES-GCM", length: 256 },
      false,
      ["encrypt", "decrypt"],
    );
  }

  async #make(scope: KeyScope): Promise<DataKey> {
    const keyId = crypto.getRandomValues(new Uint8Array(KEY_ID_BYTES)).toHex();
    const raw = crypto.getRandomValues(new Uint8Array(32));
    const wrapped = await encrypt(await this.#wrappingKey(), raw, this.#context(keyId, scope));
    const key = { keyId, root: await rootKey(raw), wrapped };
    raw.fill(0);
    this.#keys.set(keyId, key);
    return key;
  }

  #context(keyId: string, { accountId, owner, namespace }: KeyScope): Bytes {
    return bind("data key", keyId, accountId, owner, namespace);
  }
}

function recordContext(header: Uint8Array, scope: KeyScope, memoryId: string): Bytes {
  return bind("record", header.toHex(), scope.accountId, scope.owner, scope.namespace, memoryId);
}

async function openOne(ring: Keyring, item: SealedItem, context: OpenContext): Promise<Bytes> {
  try {
    const header = item.record.slice(0, HEADER_BYTES);
    if (header[0] !== VERSION) throw new RangeError("The version is unknown");
    const root = await ring.find(header.slice(1).toHex(), context, item.wrappedKey);
    return await decrypt(
      await memoryKey(root, item.memoryId),
      item.record.subarray(HEADER_BYTES),
      recordContext(header, context, item.memoryId),
    );
  } catch (cause) {
    throw new SvcError("storage_unavailable", "The record cannot be opened", {
      retryable: false,
      cause,
    });
  }
}

/**
 * AES-256-GCM with random data keys, one an account, namespace and generation, that end with the
 * process. A record is `version (1) | key id (16) | nonce (12) | ciphertext and tag`; the memory's
 * key is HKDF-SHA-256 of the data key. A wrapped key is `nonce (12) | ciphertext and tag` under a
 * random key of this cipher: nothing else unwraps it.
 */
export function memoryCipher(): Cipher {
  const gate = new Gate("storage_unavailable");
  const ring = new Keyring();
  return {
    needsCredential: false,
    async seal(plaintext, context, options) {
      await gate.pass(options?.signal);
      const { keyId, root, wrapped } = await ring.newest(context);
      const header = concat(Uint8Array.of(VERSION), Uint8Array.fromHex(keyId));
      const sealed = await encrypt(
        await memoryKey(root, context.memoryId),
        plaintext,
        recordContext(header, context, context.memoryId),
      );
      return { record: concat(header, sealed), keyId, wrappedKey: wrapped.slice() };
    },
    async open(items, context) {
      await gate.pass(context.signal);
      return await Promise.allSettled(items.map((item) => openOne(ring, item, context)));
    },
    async rotate(accountId) {
      await gate.pass();
      ring.rotate(accountId);
    },
    async destroy(keyId) {
      await gate.pass();
      ring.destroy(keyId);
    },
    [Symbol.asyncDispose]: () => gate[Symbol.asyncDispose](),
  };
}
