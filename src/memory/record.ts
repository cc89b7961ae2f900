import { SvcError } from "../errors.ts";
import type { MemoryLink, SealedItem, Source, Trust } from "../interfaces/mod.ts";

export type Metadata = Readonly<Record<string, string | number | boolean | null>>;

/** The plaintext of a sealed record. Times are RFC 3339, UTC. */
export interface MemoryRecord {
  /** Format of the record: 1. */
  readonly v: 1;
  readonly id: string;
  /** Version of the memory, from 1. */
  readonly version: number;
  /** The text, exactly as submitted. */
  readonly text: string;
  readonly metadata?: Metadata;
  readonly created_at: string;
  readonly updated_at: string;
  readonly occurred_at?: string;
  readonly expires_at?: string;
  /** Since when, and until when, it is true. */
  readonly valid_from?: string;
  readonly valid_to?: string;
  /** What it is about, such as `me/home city`. */
  readonly key?: string;
  readonly links?: readonly MemoryLink[];
  /** Chat, document or other session that it comes from, as its writer names it. */
  readonly session?: string;
  /** Its place among what was said there, from 0. */
  readonly position?: number;
  /** 0 to 1. */
  readonly importance: number;
  readonly source: Source;
  readonly trust?: Trust;
  /** Public key that signed for it, 64 hex characters. */
  readonly written_by?: string;
}

/** RFC 3339, UTC, milliseconds. */
export function timeText(milliseconds: number): string;
export function timeText(milliseconds: number | undefined): string | undefined;
export function timeText(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : new Date(milliseconds).toISOString();
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Canonical JSON of a record: members in a fixed order, without blanks. */
export function encodeRecord(record: MemoryRecord): Uint8Array {
  const { v, id, version, text, metadata, created_at, updated_at } = record;
  const { occurred_at, expires_at, importance, source } = record;
  const { valid_from, valid_to, key, links, trust, written_by } = record;
  const { session, position } = record;
  return encoder.encode(JSON.stringify({
    v,
    id,
    version,
    text,
    metadata,
    created_at,
    updated_at,
    occurred_at,
    expires_at,
    valid_from,
    valid_to,
    key,
    links,
    session,
    position,
    importance,
    source,
    trust,
    written_by,
  }));
}

/**
 * A record from its canonical JSON.
 *
 * @throws {SvcError} `storage_unavailable`, not retryable, when it is none.
 */
export function decodeRecord(bytes: Uint8Array): MemoryRecord {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    if (isRecord(value)) return value;
  } catch {
    // Falls through: the parser's message may quote the text.
  }
  throw new SvcError("storage_unavailable", "The record is damaged", { retryable: false });
}

function isRecord(value: unknown): value is MemoryRecord {
  if (typeof value !== "object" || value === null) return false;
  const record = value as Partial<Record<keyof MemoryRecord, unknown>>;
  return record.v === 1 && typeof record.id === "string" && Number.isInteger(record.version) &&
    typeof record.text === "string" && typeof record.importance === "number" &&
    typeof record.created_at === "string" && typeof record.updated_at === "string" &&
    typeof record.source === "string";
}

/** First bytes of a stored blob: format 1. */
const MAGIC = encoder.encode("svc1");
const HEADER_BYTES = 4 + 16 + 2;

/** What a stored blob holds: a sealed record with its wrapped key. */
export type BlobContent = Required<SealedItem>;

/**
 * Packs a sealed record for the blob store, with all that a fresh relayer needs to restore it:
 * `"svc1" | memory id (16) | length of the wrapped key (2, big endian) | wrapped key | record`.
 */
export function encodeBlob(content: BlobContent): Uint8Array {
  const { wrappedKey, record } = content;
  const bytes = new Uint8Array(HEADER_BYTES + wrappedKey.length + record.length);
  bytes.set(blobHead(content));
  bytes.set(record, HEADER_BYTES + wrappedKey.length);
  return bytes;
}

/** What a blob has in front of the record. */
export function blobHead({ memoryId, wrappedKey }: Omit<BlobContent, "record">): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + wrappedKey.length);
  bytes.set(MAGIC, 0);
  bytes.set(Uint8Array.fromHex(memoryId.replaceAll("-", "")), 4);
  new DataView(bytes.buffer).setUint16(20, wrappedKey.length);
  bytes.set(wrappedKey, HEADER_BYTES);
  return bytes;
}

/** A stored blob's parts; `undefined` when the bytes are not of this format. */
export function decodeBlob(bytes: Uint8Array): BlobContent | undefined {
  if (bytes.length < HEADER_BYTES || MAGIC.some((byte, i) => bytes[i] !== byte)) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = HEADER_BYTES + view.getUint16(20);
  if (end > bytes.length) return undefined;
  const hex = bytes.subarray(4, 20).toHex();
  const memoryId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  return { memoryId, wrappedKey: bytes.subarray(HEADER_BYTES, end), record: bytes.subarray(end) };
}
