import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { SvcError } from "../../../src/errors.ts";
import type { SealContext } from "../../../src/interfaces/mod.ts";

/**
 * Sealed record: `version (01) | key id (16) | nonce (12) | AES-256-GCM ciphertext and tag (16)`.
 * The key is HKDF-SHA256 of the data key with the memory id as info; the additional data binds
 * account, owner, namespace, memory id and generation.
 */
const VERSION = 1;
const ID_AT = 1;
const NONCE_AT = 17;
const SEALED_AT = 29;
const NONCE_SIZE = SEALED_AT - NONCE_AT;
const TAG_SIZE = 16;
const TAG_LENGTH = { authTagLength: TAG_SIZE };
/** Bytes of a field's length in the additional data. */
const LENGTH_SIZE = 4;
const NO_SALT = new Uint8Array(0);
/** From here on a job on the thread pool costs less than the event loop's time. */
const LARGE = 64 * 1024;

const encoder = new TextEncoder();

/** A data key with its id (32 hex characters) and the account's generation it belongs to. */
export interface DataKey {
  /** 32 lower-case hex characters. */
  readonly keyId: string;
  /** Generation of the account's keys, from 1. */
  readonly generation: number;
  /** 32 bytes. */
  readonly bytes: Uint8Array;
}

/** The error for every record that does not open; says nothing about why. */
export function cannotOpen(cause?: unknown): SvcError {
  return new SvcError("storage_unavailable", "The record cannot be opened", {
    retryable: false,
    cause,
  });
}

/** Id of the data key a record names. */
export function keyIdOf(record: Uint8Array): string {
  if (record.length < SEALED_AT + TAG_SIZE || record[0] !== VERSION) throw cannotOpen();
  return record.subarray(ID_AT, NONCE_AT).toHex();
}

/**
 * Seals a record under a data key. The data key is not read after the call returns; the plaintext
 * must stay as it is until the record is there.
 */
export async function sealRecord(
  plaintext: Uint8Array,
  dataKey: DataKey,
  context: SealContext,
): Promise<Uint8Array> {
  const key = memoryKey(dataKey.bytes, encoder.encode(context.memoryId));
  const nonce = randomBytes(NONCE_SIZE);
  const aad = additionalData(dataKey.generation, context);
  const record = new Uint8Array(SEALED_AT + plaintext.length + TAG_SIZE);
  record[0] = VERSION;
  record.set(Uint8Array.fromHex(dataKey.keyId), ID_AT);
  record.set(nonce, NONCE_AT);
  if (plaintext.length > LARGE) {
    const secret = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt"]);
    const params = { name: "AES-GCM", iv: nonce, additionalData: aad };
    const source = plaintext as Uint8Array<ArrayBuffer>;
    const sealed = await crypto.subtle.encrypt(params, secret, source);
    record.set(new Uint8Array(sealed), SEALED_AT);
    return record;
  }
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(aad);
  record.set(cipher.update(plaintext), SEALED_AT);
  cipher.final();
  record.set(cipher.getAuthTag(), SEALED_AT + plaintext.length);
  return record;
}

/** Opens records that one data key sealed in one scope of an account. */
export class RecordOpener {
  readonly #dataKey: KeyObject;
  readonly #context: Omit<SealContext, "memoryId">;
  readonly #generation: number;
  /** Additional data of the record opened last: the next one's differs in the memory id only. */
  #additionalData = new Uint8Array(0);
  #id = new Uint8Array(0);
  readonly #mostKeys: number;
  /** Keys of memories by their ids. */
  readonly #keys = new Map<string, Uint8Array<ArrayBuffer>>();

  /**
   * Copies the data key: nothing the caller does to it afterwards matters.
   *
   * @param mostKeys How many memories' keys are kept until {@linkcode RecordOpener.erase}.
   */
  constructor(dataKey: DataKey, context: Omit<SealContext, "memoryId">, mostKeys = 0) {
    this.#dataKey = createSecretKey(dataKey.bytes);
    this.#context = context;
    this.#generation = dataKey.generation;
    this.#mostKeys = mostKeys;
  }

  /** Whether it opens records of this scope. */
  isFor({ accountId, owner, namespace }: Omit<SealContext, "memoryId">): boolean {
    const own = this.#context;
    return own.namespace === namespace && own.owner === owner && own.accountId === accountId;
  }

  /** Erases the keys it keeps. */
  erase(): void {
    for (const key of this.#keys.values()) key.fill(0);
    this.#keys.clear();
  }

  /**
   * Opens a record; a large one on the thread pool, so that only then there is something to wait
   * for. Until then its bytes must stay as they are.
   * @throws {SvcError} `storage_unavailable`, not retryable, unless it was sealed in this context.
   */
  open(record: Uint8Array, memoryId: string): Uint8Array | Promise<Uint8Array> {
    try {
      this.#aim(memoryId);
      const key = this.#keyOf(memoryId);
      const aad = this.#additionalData;
      if (record.length > LARGE) return openLarge(record, key.slice(), aad.slice());
      const tagAt = record.length - TAG_SIZE;
      const nonce = record.subarray(NONCE_AT, SEALED_AT);
      const decipher = createDecipheriv("aes-256-gcm", key, nonce, TAG_LENGTH)
        .setAAD(aad)
        .setAuthTag(record.subarray(tagAt));
      const plaintext = decipher.update(record.subarray(SEALED_AT, tagAt));
      // There is nothing left to come: as a text that costs no buffer.
      decipher.final("latin1");
      // Never a Buffer: its slice would share memory with the plaintext.
      return new Uint8Array(plaintext.buffer, plaintext.byteOffset, plaintext.length);
    } catch (cause) {
      throw cannotOpen(cause);
    }
  }

  /** The key of the memory that it is aimed at. */
  #keyOf(memoryId: string): Uint8Array<ArrayBuffer> {
    const known = this.#keys.get(memoryId);
    if (known !== undefined) return known;
    const key = memoryKey(this.#dataKey, this.#id);
    if (this.#mostKeys === 0) return key;
    if (this.#keys.size >= this.#mostKeys) this.erase();
    this.#keys.set(memoryId, key);
    return key;
  }

  /** Makes the additional data that of a memory. */
  #aim(memoryId: string): void {
    if (this.#id.length > 0) {
      const { read, written } = encoder.encodeInto(memoryId, this.#id);
      if (read === memoryId.length && written === this.#id.length) return;
    }
    const bytes = additionalData(this.#generation, { ...this.#context, memoryId });
    const { length } = encoder.encode(memoryId);
    const end = bytes.length - LENGTH_SIZE - `${this.#generation}`.length;
    this.#additionalData = bytes;
    this.#id = bytes.subarray(end - length, end);
  }
}

async function openLarge(
  record: Uint8Array,
  key: Uint8Array<ArrayBuffer>,
  additionalData: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array> {
  const bytes = record as Uint8Array<ArrayBuffer>;
  const iv = bytes.subarray(NONCE_AT, SEALED_AT);
  try {
    const secret = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["decrypt"]);
    const params = { name: "AES-GCM", iv, additionalData };
    return new Uint8Array(await crypto.subtle.decrypt(params, secret, bytes.subarray(SEALED_AT)));
  } catch (cause) {
    throw cannotOpen(cause);
  }
}

function memoryKey(
  dataKey: KeyObject | Uint8Array,
  memoryId: Uint8Array,
): Uint8Array<ArrayBuffer> {
  return new Uint8Array(hkdfSync("sha256", dataKey, NO_SALT, memoryId, 32));
}

/** Every field behind its length: no two contexts give the same bytes. */
function additionalData(generation: number, context: SealContext): Uint8Array<ArrayBuffer> {
  const { accountId, owner, namespace, memoryId } = context;
  const fields = ["svc-record-1", accountId, owner, namespace, memoryId, `${generation}`];
  // A UTF-16 unit takes at most 3 bytes.
  const size = fields.reduce((sum, field) => sum + LENGTH_SIZE + 3 * field.length, 0);
  const out = new Uint8Array(size);
  const view = new DataView(out.buffer);
  let at = 0;
  for (const field of fields) {
    const { written } = encoder.encodeInto(field, out.subarray(at + LENGTH_SIZE));
    view.setUint32(at, written);
    at += LENGTH_SIZE + written;
  }
  return out.subarray(0, at);
}
