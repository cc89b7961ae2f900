/** The part that belongs to all relayers. */
export const COMMON = "";

/** A table of core.db, and how its rows are told apart. */
export interface MirroredTable {
  readonly name: string;
  /** Columns that name a row. */
  readonly key: readonly string[];
  /** Whether a row belongs to the owner in its column `owner`; else to all relayers. */
  readonly isOwned: boolean;
  /** Column that each file numbers for itself. */
  readonly numbered?: string;
  /** Whether it must be read before the key is known, and holds nothing to be sealed. */
  readonly isOpen?: boolean;
}

const owned = (name: string, ...key: readonly string[]): MirroredTable => ({
  name,
  key: ["owner", "namespace", ...key],
  isOwned: true,
});

/** The tables of core.db that relayers of one store share. */
export const TABLES: readonly MirroredTable[] = [
  owned("tombstone", "id"),
  owned("forgotten"),
  owned("forgetting"),
  owned("erasure", "id"),
  { ...owned("unsent_tombstone", "id"), numbered: "seq" },
  owned("tombstone_blob", "blob_id"),
  owned("memory_version", "id", "version"),
  owned("namespace_policy"),
  owned("namespace_repetition"),
  { name: "memory_copy", key: ["owner", "id"], isOwned: true },
  { name: "owner_count", key: ["owner", "name"], isOwned: true },
  { name: "wrapped_key", key: ["key_id"], isOwned: true },
  { name: "generation", key: ["account_id"], isOwned: false },
  { name: "sponsorship", key: ["digest"], isOwned: false },
  { name: "oauth_grant", key: ["id"], isOwned: false },
  { name: "meta", key: ["name"], isOwned: false, isOpen: true },
  { name: "key_slots", key: ["fingerprint"], isOwned: false, isOpen: true },
];

/** What a column of a row may hold. */
export type Column = string | number | null | Uint8Array;
/** A row by the names of its columns. */
export type Row = Readonly<Record<string, Column>>;
