/** Where a patch is: in columns `start` to `end` (exclusive) of a quilt. */
interface PatchPlace {
  /** Blob id of the quilt, 43 characters of base64url. */
  readonly quiltId: string;
  readonly start: number;
  readonly end: number;
}

/** `blob id (32) | version (1) | first column (u16, LE) | column behind the last (u16, LE)`. */
const BYTES = 37;
const BLOB_ID_BYTES = 32;
const VERSION = 1;

const ENCODING = { alphabet: "base64url", omitPadding: true } as const;

/** Whether a text is a blob id: base64url of 32 bytes. */
export function isBlobId(id: string): boolean {
  return bytesOf(id)?.length === BLOB_ID_BYTES;
}

function bytesOf(id: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]{43,50}$/.test(id)) return undefined;
  try {
    const bytes = Uint8Array.fromBase64(id, { alphabet: "base64url" });
    // Each id has one spelling, in which the bits behind the last byte are zero.
    return bytes.toBase64(ENCODING) === id ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** The blob id of the blob, or of the quilt of the patch, that an id names. */
export function blobIdOf(id: string): string | undefined {
  return patchPlace(id)?.quiltId ?? (isBlobId(id) ? id : undefined);
}

/** The id of a patch, 50 characters of base64url. */
export function patchId({ quiltId, start, end }: PatchPlace): string {
  const bytes = new Uint8Array(BYTES);
  bytes.set(Uint8Array.fromBase64(quiltId, { alphabet: "base64url" }));
  bytes[BLOB_ID_BYTES] = VERSION;
  const view = new DataView(bytes.buffer);
  view.setUint16(BLOB_ID_BYTES + 1, start, true);
  view.setUint16(BLOB_ID_BYTES + 3, end, true);
  return bytes.toBase64(ENCODING);
}

/** The place that a patch id names; `undefined` for other texts. */
export function patchPlace(id: string): PatchPlace | undefined {
  const bytes = bytesOf(id);
  if (bytes?.length !== BYTES || bytes[BLOB_ID_BYTES] !== VERSION) return undefined;
  const view = new DataView(bytes.buffer);
  const start = view.getUint16(BLOB_ID_BYTES + 1, true);
  const end = view.getUint16(BLOB_ID_BYTES + 3, true);
  if (start >= end) return undefined;
  const quiltId = bytes.subarray(0, BLOB_ID_BYTES).toBase64(ENCODING);
  return { quiltId, start, end };
}
