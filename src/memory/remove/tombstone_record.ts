/**
 * The plaintext of a sealed tombstone: deletions, for a relayer that restores from the blob store
 * alone. Times are RFC 3339, UTC.
 */
export interface TombstoneRecord {
  /** Format of the record: 1. */
  readonly v: 1;
  /** Id of the tombstone itself, a UUID. */
  readonly id: string;
  /** Ids of deleted memories. */
  readonly deleted: readonly string[];
  /** Everything the namespace held until then was deleted. */
  readonly forgotten_until?: string;
  /** When it was made. */
  readonly created_at: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Canonical JSON of a tombstone: members in a fixed order, without blanks. */
export function encodeTombstone(record: TombstoneRecord): Uint8Array {
  const { v, id, deleted, forgotten_until, created_at } = record;
  return encoder.encode(JSON.stringify({ v, id, deleted, forgotten_until, created_at }));
}

/** A tombstone from its canonical JSON; `undefined` for every other record. */
export function decodeTombstone(bytes: Uint8Array): TombstoneRecord | undefined {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    return isTombstone(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isTombstone(value: unknown): value is TombstoneRecord {
  if (typeof value !== "object" || value === null) return false;
  const record = value as Partial<Record<keyof TombstoneRecord, unknown>>;
  const until = record.forgotten_until;
  return record.v === 1 && typeof record.id === "string" &&
    typeof record.created_at === "string" && Array.isArray(record.deleted) &&
    record.deleted.every((id) => typeof id === "string") &&
    (until === undefined || typeof until === "string" && !Number.isNaN(Date.parse(until)));
}
