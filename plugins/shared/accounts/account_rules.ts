import { blake2b } from "@noble/hashes/blake2.js";
import { SvcError } from "../../../src/errors.ts";
import type { NewKey } from "../../../src/interfaces/mod.ts";
import {
  addressOf,
  BOUND_NAMESPACES,
  isLowOrder,
  isObjectId,
  isPublicKey,
  PERMISSIONS,
} from "../../../src/wire/keys.ts";

const NAMESPACE_BYTES = 256;

export const MAX_KEYS = 100;

const LABEL_BYTES = 64;

/** A key that keeps every rule, in the form it is stored in. */
export interface CheckedKey extends NewKey {
  /** `0x` and 64 lower-case hex characters. */
  readonly address: string;
}

/**
 * Id of an owner's account: BLAKE2b-256 of `svc-local-account:` and the owner, so that an account
 * made again after a loss opens what the first one sealed.
 */
export function accountIdOf(owner: string): string {
  const bytes = new TextEncoder().encode(`svc-local-account:${owner}`);
  return "0x" + blake2b(bytes, { dkLen: 32 }).toHex();
}

/**
 * An owner in lower case.
 * @throws {SvcError} `invalid_parameter` unless it is `0x` and 64 hex characters.
 */
export function checkedOwner(owner: string): string {
  if (!isObjectId(owner)) throw invalid("owner", "must be 0x and 64 hex characters");
  return owner.toLowerCase();
}

/**
 * A new key in the form it is stored in.
 * @throws {SvcError} `invalid_parameter` with the name of the member that breaks a rule.
 */
export function checkedKey(key: NewKey, now: number): CheckedKey {
  if (!isPublicKey(key.publicKey)) throw invalid("public_key", "must be 64 hex characters");
  const publicKey = key.publicKey.toLowerCase();
  if (isLowOrder(Uint8Array.fromHex(publicKey))) {
    throw invalid("public_key", "must not be a point of low order");
  }
  const label = key.label;
  const bytes = new TextEncoder().encode(label).length;
  if (bytes < 1 || bytes > LABEL_BYTES || !label.isWellFormed() || /\p{Cc}/u.test(label)) {
    throw invalid("label", "must have 1 to 64 bytes of UTF-8 without control characters");
  }
  const asked = new Set<string>(key.permissions);
  const permissions = PERMISSIONS.filter((permission) => asked.has(permission));
  if (permissions.length === 0 || permissions.length !== asked.size) {
    throw invalid("permissions", "must be some of read, write and manage");
  }
  const { expiresAt, namespaces } = key;
  if (namespaces !== undefined) checkNamespaces(namespaces);
  if (expiresAt !== undefined && !(Number.isSafeInteger(expiresAt) && expiresAt > now)) {
    throw invalid("expires_at", "must be in the future");
  }
  return {
    publicKey,
    address: addressOf(publicKey),
    label,
    permissions,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(namespaces === undefined ? {} : { namespaces: [...new Set(namespaces)] }),
  };
}

/**
 * Whether a key can be bound to namespaces.
 * @throws {SvcError} `invalid_parameter` where it cannot.
 */
export function checkNamespaces(namespaces: readonly string[]): void {
  if (areNamespaces(namespaces)) return;
  throw invalid("namespaces", `must be 1 to ${BOUND_NAMESPACES} namespaces`);
}

function areNamespaces(names: readonly string[]): boolean {
  const encoder = new TextEncoder();
  return names.length >= 1 && names.length <= BOUND_NAMESPACES &&
    names.every((name) => {
      const bytes = encoder.encode(name).length;
      return bytes >= 1 && bytes <= NAMESPACE_BYTES && name.isWellFormed() && !/\p{Cc}/u.test(name);
    });
}

function invalid(field: string, rule: string): SvcError {
  return new SvcError("invalid_parameter", `${field} ${rule}`, { field });
}
