/** A wrapped data key as it travels with the blobs it sealed. */
export interface PortableKey {
  /** 32 lower-case hex characters. */
  readonly keyId: string;
  /** Generation of the account's keys, from 1 to 2^32 - 1. */
  readonly generation: number;
  /** The data key, wrapped. */
  readonly wrapped: Uint8Array;
}

const VERSION = 1;
const ID_AT = 1;
const GENERATION_AT = 17;
const HEAD = 21;

/** `version (01) | key id (16) | generation (u32, big-endian) | wrapped key`. */
export function encodePortable({ keyId, generation, wrapped }: PortableKey): Uint8Array {
  const bytes = new Uint8Array(HEAD + wrapped.length);
  bytes[0] = VERSION;
  bytes.set(Uint8Array.fromHex(keyId), ID_AT);
  new DataView(bytes.buffer).setUint32(GENERATION_AT, generation);
  bytes.set(wrapped, HEAD);
  return bytes;
}

/** What travelled with a record; `undefined` when it is no wrapped key of this format. */
export function decodePortable(bytes: Uint8Array | undefined): PortableKey | undefined {
  if (bytes === undefined || bytes.length <= HEAD || bytes[0] !== VERSION) return undefined;
  return {
    keyId: bytes.subarray(ID_AT, GENERATION_AT).toHex(),
    generation: new DataView(bytes.buffer, bytes.byteOffset).getUint32(GENERATION_AT),
    wrapped: new Uint8Array(bytes.subarray(HEAD)),
  };
}
