import { SvcError } from "../errors.ts";
import type { Sealed } from "../interfaces/mod.ts";
import type { Metadata } from "./record.ts";

/** What waits, sealed, until a worker takes it. */
export type Payload =
  | { readonly kind: "text"; readonly text: string; readonly metadata?: Metadata }
  | {
    readonly kind: "manual";
    readonly vector: Float32Array;
    /** Model the relayer had when the vector was accepted; absent = the present one. */
    readonly model?: string;
    readonly data: Uint8Array;
    /** Set instead of `data` when the client stored the blob itself. */
    readonly blobId?: string;
    readonly metadata?: Metadata;
  };

/** A worker's result: saved before its first effect, so that every retry uses the same bytes. */
export interface Step {
  /** Window vectors. */
  readonly vectors: readonly Float32Array[];
  /** Model they are of. */
  readonly model: string;
  /** The sealed record, its key id and its wrapped key. */
  readonly sealed: Sealed;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Head of a text without metadata, as nearly all are. */
const TEXT_HEAD = encoder.encode('{"kind":"text"}');

/** Parts framed as `count (1) | length (4, big endian) each | parts`. */
function frame(parts: readonly Uint8Array[]): Uint8Array {
  const head = 1 + 4 * parts.length;
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, head));
  const view = new DataView(bytes.buffer);
  bytes[0] = parts.length;
  let at = head;
  for (const [i, part] of parts.entries()) {
    view.setUint32(1 + 4 * i, part.length);
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function unframe(bytes: Uint8Array): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes[0] ?? 0;
  const parts: Uint8Array[] = [];
  let at = 1 + 4 * count;
  for (let i = 0; i < count; i++) {
    const end = at + view.getUint32(1 + 4 * i);
    parts.push(bytes.subarray(at, end));
    at = end;
  }
  return parts;
}

function vectorBytes(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

function vectorOf(bytes: Uint8Array): Float32Array {
  // A copy: the part may lie at an odd offset.
  return new Float32Array(bytes.slice().buffer);
}

/** Bytes of a payload. */
export function encodePayload(payload: Payload): Uint8Array {
  if (payload.kind === "text") {
    const { text, metadata } = payload;
    const head = metadata === undefined
      ? TEXT_HEAD
      : encoder.encode(JSON.stringify({ kind: "text", metadata }));
    return frame([head, encoder.encode(text)]);
  }
  const { blobId, model, metadata } = payload;
  const head = { kind: "manual", blobId, model, metadata };
  return frame([encoder.encode(JSON.stringify(head)), payload.data, vectorBytes(payload.vector)]);
}

/**
 * A payload from its bytes.
 *
 * @throws {SvcError} `storage_unavailable`, not retryable, when they are damaged.
 */
export function decodePayload(bytes: Uint8Array): Payload {
  try {
    const [head, body, vector] = unframe(bytes);
    const { kind, blobId, model, metadata } = JSON.parse(decoder.decode(head)) as {
      kind: string;
      blobId?: string;
      model?: string;
      metadata?: Metadata;
    };
    const meta = metadata === undefined ? {} : { metadata };
    if (kind === "text" && body !== undefined) {
      return { kind, text: decoder.decode(body), ...meta };
    }
    if (kind === "manual" && body !== undefined && vector !== undefined) {
      const blob = blobId === undefined ? {} : { blobId };
      const made = model === undefined ? {} : { model };
      return { kind, data: body, vector: vectorOf(vector), ...made, ...blob, ...meta };
    }
  } catch {
    // Falls through: the parser's message may quote the text.
  }
  throw new SvcError("storage_unavailable", "The payload is damaged", { retryable: false });
}

/** Bytes of a step's result. */
export function encodeStep({ vectors, model, sealed }: Step): Uint8Array {
  const head = encoder.encode(`${sealed.keyId}\n${model}`);
  return frame([head, sealed.wrappedKey, sealed.record, ...vectors.map(vectorBytes)]);
}

/**
 * A step's result from its bytes.
 *
 * @throws {SvcError} `storage_unavailable`, not retryable, when they are damaged.
 */
export function decodeStep(bytes: Uint8Array): Step {
  const [head, wrappedKey, record, ...vectors] = unframe(bytes);
  if (head === undefined || wrappedKey === undefined || record === undefined) {
    throw new SvcError("storage_unavailable", "The saved step is damaged", { retryable: false });
  }
  const [keyId = "", ...model] = decoder.decode(head).split("\n");
  return {
    vectors: vectors.map(vectorOf),
    model: model.join("\n"),
    sealed: { keyId, wrappedKey, record },
  };
}
