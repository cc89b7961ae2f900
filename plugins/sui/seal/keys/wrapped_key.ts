import { createHash, createHmac, randomBytes } from "node:crypto";
import { SvcError } from "../../../../src/errors.ts";
import type { Scope } from "../../../../src/interfaces/mod.ts";
import { cannotOpen } from "../../../shared/records/record.ts";
import type { KeyIdentity, ServerSet, Wrapped } from "../calls.ts";

/**
 * One step of a chain of data keys. A chain has one secret, wrapped for the key servers. Each step
 * derives a data key and the next state from its state and erases the state, so that a process that
 * goes on sealing holds nothing that opens what it sealed before:
 *
 *     state(0)  = the secret                        next = HMAC-SHA256(state, "svc-seal-next-1")
 *     data key  = HMAC-SHA256(state, "svc-seal-data-1" | salt | key id)
 *
 * A wrapped data key is `version (01) | step (u16) | salt (32) | head`; the head, the same for all
 * keys of a chain, is `threshold (u8) | n (u8) | n × (object id (32) | weight (u8)) | encrypted
 * object`. The salt is nowhere else; without it a data key cannot be derived again.
 *
 * The key id is a hash of the account, the scope, the generation and the wrapped key, so that a key
 * which travels with a blob cannot be altered, and no other key can have its id.
 */
export interface WrappedStep {
  /** Number of the step, from 0. */
  readonly step: number;
  /** 32 bytes. */
  readonly salt: Uint8Array;
  readonly head: Uint8Array;
}

const VERSION = 1;
const HEAD_AT = 35;
const SERVER_SIZE = 33;
const MAX_SIZE = 64 * 1024;
const KEY_ID_SIZE = 16;
const MAX_SERVERS = 32;

/** Most data keys of one chain; deriving the last one costs as many hashes. */
export const MAX_STEPS = 256;

export function newSalt(): Uint8Array {
  return new Uint8Array(randomBytes(32));
}

export function encodeStep({ step, salt, head }: WrappedStep): Uint8Array {
  const bytes = new Uint8Array(HEAD_AT + head.length);
  bytes[0] = VERSION;
  new DataView(bytes.buffer).setUint16(1, step);
  bytes.set(salt, 3);
  bytes.set(head, HEAD_AT);
  return bytes;
}

/** @throws {SvcError} `storage_unavailable`, not retryable, for other bytes. */
export function decodeStep(bytes: Uint8Array): WrappedStep {
  const short = bytes.length <= HEAD_AT + 2;
  if (short || bytes.length > MAX_SIZE || bytes[0] !== VERSION) throw cannotOpen();
  const step = new DataView(bytes.buffer, bytes.byteOffset).getUint16(1);
  if (step >= MAX_STEPS) throw cannotOpen();
  return { step, salt: bytes.subarray(3, HEAD_AT), head: bytes.subarray(HEAD_AT) };
}

export function encodeHead({ set, ciphertext }: Wrapped): Uint8Array {
  const { threshold, servers } = set;
  const bytes = new Uint8Array(2 + servers.length * SERVER_SIZE + ciphertext.length);
  bytes.set([threshold, servers.length]);
  let at = 2;
  for (const { objectId, weight } of servers) {
    bytes.set(Uint8Array.fromHex(objectId.slice(2)), at);
    bytes[at + SERVER_SIZE - 1] = weight;
    at += SERVER_SIZE;
  }
  bytes.set(ciphertext, at);
  return bytes;
}

/** @throws {SvcError} `storage_unavailable`, not retryable, for other bytes. */
export function decodeHead(bytes: Uint8Array): Wrapped {
  const [threshold = 0, count = 0] = bytes;
  const end = 2 + count * SERVER_SIZE;
  if (count > MAX_SERVERS || bytes.length <= end) throw cannotOpen();
  const servers: ServerSet["servers"][number][] = [];
  for (let at = 2; at < end; at += SERVER_SIZE) {
    const objectId = `0x${bytes.subarray(at, at + SERVER_SIZE - 1).toHex()}`;
    servers.push({ objectId, weight: bytes[at + SERVER_SIZE - 1]! });
  }
  const total = servers.reduce((sum, { weight }) => sum + weight, 0);
  const ids = new Set(servers.map(({ objectId }) => objectId));
  const valid = ids.size === count && servers.every(({ weight }) => weight > 0);
  if (!valid || threshold < 1 || threshold > total || total > 254) throw cannotOpen();
  return { set: { threshold, servers }, ciphertext: bytes.slice(end) };
}

/** Id of a wrapped data key, 32 lower-case hex characters, which commit to the key and its owner. */
export function keyIdOfStep(identity: KeyIdentity, wrapped: Uint8Array): string {
  return hashOf("svc-seal-key-1", identity, wrapped).subarray(0, KEY_ID_SIZE).toHex();
}

/** Names a chain within this process. */
export function chainIdOf(identity: KeyIdentity, head: Uint8Array): string {
  return hashOf("svc-seal-chain-1", identity, head).toHex();
}

/** SHA-256 of a scope, in which the length of each part precedes it. */
export function scopeHash(scope: Scope): Uint8Array {
  const { owner, namespace } = scope;
  if (!owner.isWellFormed() || !namespace.isWellFormed()) {
    throw new SvcError("invalid_parameter", "A name is not valid Unicode");
  }
  const hash = createHash("sha256").update("svc-scope-1");
  for (const bytes of scopeParts(scope)) hash.update(u32(bytes.length)).update(bytes);
  return new Uint8Array(hash.digest());
}

/** What a scope is the hash of: the owner and the namespace, UTF-8. */
export function scopeParts({ owner, namespace }: Scope): Uint8Array[] {
  return [owner, namespace].map((part) => new TextEncoder().encode(part));
}

/** State after a step; the caller must erase the old one. */
export function nextState(state: Uint8Array): Uint8Array {
  return new Uint8Array(createHmac("sha256", state).update("svc-seal-next-1").digest());
}

/** Derives the data key of a step, 32 bytes. */
export function dataKeyOf(state: Uint8Array, salt: Uint8Array, keyId: string): Uint8Array {
  const hmac = createHmac("sha256", state).update("svc-seal-data-1").update(salt);
  return new Uint8Array(hmac.update(Uint8Array.fromHex(keyId)).digest());
}

function hashOf(
  label: string,
  { accountId, generation, scope }: KeyIdentity,
  bytes: Uint8Array,
): Uint8Array {
  const hash = createHash("sha256").update(label).update(accountId).update(scope);
  return new Uint8Array(hash.update(u32(generation)).update(bytes).digest());
}

function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}
