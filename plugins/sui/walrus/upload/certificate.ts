import type { ProtocolMessageCertificate } from "@mysten/walrus";

/**
 * Where a storage confirmation says what it confirms (walrus-core, messages/storage_confirmation):
 * `intent (3) | epoch u32 | blob id (32) | 1 = deletable | object id (32)`.
 */
const BLOB_ID_AT = 7;
const DELETABLE_AT = 39;
const LENGTH = 72;

/** Most storage nodes of a committee: each has at least one of at most 65,535 shards. */
const MAX_SIGNERS = 65_535;

/** Whether a certificate has the shape of one for this Blob object; its signature is not checked. */
export function certifies(
  { signers, serializedMessage: message, signature }: ProtocolMessageCertificate,
  blobId: string,
  objectId: string,
): boolean {
  const named = message.subarray(BLOB_ID_AT, DELETABLE_AT);
  return Array.isArray(signers) && signers.length <= MAX_SIGNERS &&
    signers.every((signer) => Number.isInteger(signer) && signer >= 0 && signer < MAX_SIGNERS) &&
    message.length === LENGTH && signature.length === 96 &&
    named.toBase64({ alphabet: "base64url", omitPadding: true }) === blobId &&
    message[DELETABLE_AT] === 1 && `0x${message.subarray(DELETABLE_AT + 1).toHex()}` === objectId;
}

/** A certificate as bytes to save. */
export function encodeCertificate(certificate: ProtocolMessageCertificate): Uint8Array {
  const { signers, serializedMessage, signature } = certificate;
  const [message, signed] = [serializedMessage.toBase64(), signature.toBase64()];
  return new TextEncoder().encode(JSON.stringify({ signers, message, signature: signed }));
}

/** Reads what {@linkcode encodeCertificate} wrote. */
export function decodeCertificate(bytes: Uint8Array): ProtocolMessageCertificate {
  const kept: { signers: number[]; message: string; signature: string } = JSON.parse(
    new TextDecoder().decode(bytes),
  );
  return {
    signers: kept.signers,
    serializedMessage: Uint8Array.fromBase64(kept.message),
    signature: Uint8Array.fromBase64(kept.signature),
  };
}
