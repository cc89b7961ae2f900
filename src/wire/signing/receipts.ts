import { hashes, verify } from "@noble/ed25519";
import { sha512 } from "@noble/hashes/sha2.js";
import { SvcError } from "../../errors.ts";

/** A statement about deletions, and the signature of the relayer that made them. */
export interface Receipt {
  /** JSON of a {@linkcode ReceiptStatement}, exactly as it was signed. */
  readonly statement: string;
  /** Ed25519, 128 hex characters, over `svc-receipt-v1:` and the UTF-8 of the statement. */
  readonly signature: string;
  /** Key that signed, 64 hex characters; the relayer publishes it at `/.well-known/svc-receipt-key`. */
  readonly public_key: string;
}

/** Bytes of deleted memories that are still somewhere. */
export interface Survivor {
  /**
   * `files`: log or free pages of the relayer's files, which are overwritten soon. `blob`: encrypted
   * in the blob store.
   */
  readonly what: "files" | "blob";
  /** Memories concerned; all that the receipt names when absent. */
  readonly memory_ids?: readonly string[];
  /** When they are gone, RFC 3339; absent where that is not known. */
  readonly until?: string;
}

/** What a receipt says. Times are RFC 3339, UTC. */
export interface ReceiptStatement {
  /** Version of this form. */
  readonly v: 1;
  /** What it is about. */
  readonly type: "svc-deletion";
  /** Whose memories were deleted. */
  readonly owner: string;
  /** Where they were. */
  readonly namespace: string;
  /** Memories that were deleted, with all their versions. */
  readonly memory_ids: readonly string[];
  /** When the first of them was deleted. */
  readonly deleted_at: string;
  /** When the statement was made. */
  readonly issued_at: string;
  /** Whether no byte of them is left anywhere. */
  readonly erased: boolean;
  /** What is left, where something is. */
  readonly survives: readonly Survivor[];
}

hashes.sha512 = sha512;

const encoder = new TextEncoder();

/** What the signature of a statement covers. */
export function receiptMessage(statement: string): Uint8Array {
  return encoder.encode(`svc-receipt-v1:${statement}`);
}

function damaged(): SvcError {
  return new SvcError("invalid_parameter", "This is no receipt of svc");
}

/** A receipt from JSON. @throws {SvcError} `invalid_parameter` when it is none. */
export function receiptOf(value: unknown): Receipt {
  const receipt = Object(value) as Partial<Record<keyof Receipt, unknown>>;
  const { statement, signature, public_key } = receipt;
  const fits = typeof statement === "string" && typeof signature === "string" &&
    /^[0-9a-f]{128}$/i.test(signature) && typeof public_key === "string" &&
    /^[0-9a-f]{64}$/i.test(public_key);
  if (!fits) throw damaged();
  return { statement, signature, public_key };
}

/**
 * What a receipt says, once its signature is checked; needs no network.
 *
 * @param publicKey The relayer's receipt key, where it is known from elsewhere: a receipt alone shows
 * that it was not altered, and not who made it.
 * @throws {SvcError} `signature_invalid` when it was altered or another key made it,
 * `invalid_parameter` when it is none.
 */
export function verifyReceipt(receipt: Receipt, publicKey?: string): ReceiptStatement {
  const { statement, signature, public_key } = receiptOf(receipt);
  const isOther = publicKey !== undefined &&
    publicKey.toLowerCase() !== public_key.toLowerCase();
  const isValid = !isOther && isSigned(statement, signature, public_key);
  if (!isValid) {
    const message = isOther
      ? "The receipt was made by another key"
      : "The receipt was altered, or its signature is not of its key";
    throw new SvcError("signature_invalid", message);
  }
  try {
    const value: ReceiptStatement = JSON.parse(statement);
    if (value.v === 1 && value.type === "svc-deletion") return value;
  } catch {
    // Falls through.
  }
  throw damaged();
}

function isSigned(statement: string, signature: string, publicKey: string): boolean {
  try {
    const message = receiptMessage(statement);
    return verify(Uint8Array.fromHex(signature), message, Uint8Array.fromHex(publicKey));
  } catch {
    return false;
  }
}
