import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { SvcError } from "../../src/errors.ts";
import type { SealContext } from "../../src/interfaces/mod.ts";

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

/** Seals a record under a data key. The data key is not read after the call returns. */
export async function sealRecord(
  plaintext: Uint8Array,
  dataKey: DataKey,
  context: SealContext,
): Promise<Uint8Array> {
  const key = memoryKey(dataKey, context);
  const nonce = randomBytes(NONCE_SIZE);
  const aad = additionalData(dataKey, context);
  const record = new Uint8Array(SEALED_AT + plaintext.length + TAG_SIZE);
  record[0] = VERSION;
  record.set(Uint8Array.fromHex(dataKey.keyId), ID_AT);
  record.set(nonce, NONCE_AT);
  if (plaintext.length > LARGE) {
    const kept = new Uint8Array(plaintext);
    const secret = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt"]);
    const params = { name: "AES-GCM", iv: nonce, additionalData: aad };
    const sealed = await crypto.subtle.encrypt(params, secret, kept);
    record.set(new Uint8Array(sealed), SEALED_AT);
    return record;
  }
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(aad);
  record.set(cipher.update(plaintext), SEALED_AT);
  cipher.final();
  record.set(cipher.getAuthTag(), SEALED_AT + plaintext.length);
  return record;
}

/**
 * Opens a record. The data key is not read after the call returns.
 * @throws {SvcError} `storage_unavailable`, not retryable, unless it was sealed in this context.
 */
export async function openRecord(
  record: Uint8Array,
  dataKey: DataKey,
  context: SealContext,
): Promise<Uint8Array> {
  const nonce = new Uint8Array(record.subarray(NONCE_AT, SEALED_AT));
  try {
    const key = memoryKey(dataKey, context);
    const aad = additionalData(dataKey, context);
    if (record.length > LARGE) {
      const sealed = new Uint8Array(record.subarray(SEALED_AT));
      const secret = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["decrypt"]);
      const params = { name: "AES-GCM", iv: nonce, additionalData: aad };
      return new Uint8Array(
        await crypto.subtle.decrypt(params, secret, sealed),
      );
    }
    const tagAt = record.length - TAG_SIZE;
    const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_SIZE })
      .setAAD(aad)
      .setAuthTag(record.subarray(tagAt));
    const plaintext = new Uint8Array(decipher.update(record.subarray(SEALED_AT, tagAt)));
    decipher.final();
    return plaintext;
  } catch (cause) {
    throw cannotOpen(cause);
  }
}

function memoryKey(dataKey: DataKey, { memoryId }: SealContext): Uint8Array<ArrayBuffer> {
  const info = encoder.encode(memoryId);
  return new Uint8Array(hkdfSync("sha256", dataKey.bytes, new Uint8Array(0), info, 32));
}

/** Every field behind its length: no two contexts give the same bytes. */
function additionalData(dataKey: DataKey, context: SealContext): Uint8Array<ArrayBuffer> {
  const { accountId, owner, namespace, memoryId } = context;
  const fields = ["svc-record-1", accountId, owner, namespace, memoryId, `${dataKey.generation}`];
  // A UTF-16 unit takes at most 3 bytes.
  const out = new Uint8Array(fields.reduce((sum, field) => sum + 4 + 3 * field.length, 0));
  const view = new DataView(out.buffer);
  let at = 0;
  for (const field of fields) {
    const { written } = encoder.encodeInto(field, out.subarray(at + 4));
    view.setUint32(at, written);
    at += 4 + written;
  }
  return out.subarray(0, at);
}
