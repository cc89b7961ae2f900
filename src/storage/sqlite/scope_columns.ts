import type { Scope } from "../../interfaces/mod.ts";
import { fromColumn, toColumn } from "./database.ts";

/** Columns that say which scope a row belongs to, as {@linkcode toColumn} writes names. */
export interface ScopeColumns {
  readonly owner: Uint8Array;
  readonly namespace: Uint8Array;
}

/** Parameters for `owner = ? and namespace = ?`, in this order; throws as {@linkcode toColumn}. */
export function scopeColumns({ owner, namespace }: Scope): [Uint8Array, Uint8Array] {
  return [toColumn(owner), toColumn(namespace)];
}

/** The scope of a row. */
export function scopeOf({ owner, namespace }: ScopeColumns): Scope {
  return { owner: fromColumn(owner), namespace: fromColumn(namespace) };
}
