import { SvcError } from "../../../src/errors.ts";
import type { Embedder, ScopeCount } from "../../../src/interfaces/mod.ts";
import type { Sealer } from "../../../src/interfaces/plugin.ts";
import { type Database, fromColumn, toColumn } from "../../../src/storage/sqlite/database.ts";
import type { SqliteFile } from "../../../src/storage/sqlite/sqlite_file.ts";

/** Whose vectors a store holds. */
export type StoreIdentity = Pick<Embedder, "model" | "dimensions">;

/**
 * Refuses a vector store that was not told its embedder: it would refuse every memory later.
 *
 * @throws {SvcError} `invalid_parameter`.
 */
export function requireEmbedder({ dimensions, model }: StoreIdentity): void {
  if (dimensions >= 1 && model !== "") return;
  const text = "A vector store needs the dimensions and the model of the embedder: open that first";
  throw new SvcError("invalid_parameter", text);
}

/** Refuses a query of another length with `dimension_mismatch`. */
export function requireLength(vector: Float32Array, dimensions: number): void {
  if (vector.length === dimensions) return;
  throw new SvcError("dimension_mismatch", `vector must have ${dimensions} dimensions`);
}

/** What the table `meta` has under a key, after writing a value where there is none. */
export function kept<T>(file: SqliteFile, key: string, value: string | Uint8Array): T {
  file.run("insert or ignore into meta values(?, ?)", key, value);
  return file.get<{ value: T }>("select value from meta where key = ?", key)!.value;
}

/**
 * Refuses a file with `storage_unavailable`, not retryable, when another relayer key sealed it.
 *
 * @param name What the message calls it.
 * @param remedy What the operator can do without that key.
 */
export function checkSeal(file: SqliteFile, sealer: Sealer, name: string, remedy: string): void {
  const seal = kept<Uint8Array>(file, "seal", sealer.seal(new Uint8Array(0), "seal"));
  try {
    sealer.open(seal, "seal");
  } catch (cause) {
    const text = `${name} was sealed under another relayer key: configure that key again`;
    throw new SvcError("storage_unavailable", `${text}, or ${remedy}`, { retryable: false, cause });
  }
}

/** What the table `scope` says of the owner's scopes, by namespace; empty ones are left out. */
export function scopeCounts(database: Database, owner: string): ScopeCount[] {
  const sql = `select namespace, count, bytes, last_write as lastWriteAt from scope
     where owner = ? and count > 0`;
  type Row = Omit<ScopeCount, "namespace"> & { namespace: Uint8Array };
  return database.all<Row>(sql, toColumn(owner))
    .map((row) => ({ ...row, namespace: fromColumn(row.namespace) }))
    .sort((a, b) => a.namespace < b.namespace ? -1 : 1);
}
