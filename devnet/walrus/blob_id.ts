import { bcs } from "@mysten/sui/bcs";
import { blake2b } from "@noble/hashes/blake2.js";
import { BlobIdDerivation } from "./layouts.ts";

/** Number of the only encoding in use, RS2. */
export const ENCODING_RS2 = 1;

/** URL-safe base64 without padding, as Walrus writes ids and signatures. */
export function toUrlBase64(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Bytes of URL-safe base64; undefined when it is none. */
export function fromUrlBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.fromBase64(text, { alphabet: "base64url" });
  } catch {
    return undefined;
  }
}

/** A blob id as the number that Move has; undefined when the text is no blob id. */
export function blobIdNumber(blobId: string): bigint | undefined {
  const bytes = fromUrlBase64(blobId);
  return bytes?.length === 32 ? BigInt(bcs.u256().parse(bytes)) : undefined;
}

/** A blob id as URL-safe base64 of its 32 bytes. */
export function blobIdText(blobId: bigint | string): string {
  return toUrlBase64(bcs.u256().serialize(blobId).toBytes());
}

/** The blob id that a root hash, an encoding and an unencoded size make (`blob::derive_blob_id`). */
export function deriveBlobId(rootHash: bigint, encodingType: number, size: bigint): bigint {
  const bytes = BlobIdDerivation.serialize({
    encoding_type: encodingType,
    size,
    root_hash: rootHash,
  }).toBytes();
  return BigInt(bcs.u256().parse(blake2b(bytes, { dkLen: 32 })));
}
