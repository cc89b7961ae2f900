import type { Scope } from "../../../../src/interfaces/mod.ts";
import { columnsOf } from "../../../../src/storage/sqlite/database.ts";
import type { Catalogue } from "../catalogue.ts";

/**
 * Whether a blob by itself was stored at a time or later, milliseconds since the epoch, and lasts:
 * what told of its deletion then meant an earlier object, because equal bytes have the same id. At
 * the same time counts: a blob cannot share a transaction with the quilt that tells of its deletion.
 */
export function isStoredSince(
  { database }: Catalogue,
  scope: Scope,
  id: string,
  at: number,
): boolean {
  const sql = `select 1 from stored where blob_id = ? and +owner = ? and +namespace = ?
    and +state = 'live' and quilt = 0 and created_at >= ?`;
  return database.get(sql, id, ...columnsOf(scope), at) !== undefined;
}

/**
 * Forgets that a blob by itself was deleted when it was stored after the quilt that tells so. A
 * deletion that none tells yet was made here, of all that is stored. Must run inside
 * `database.write`.
 */
export function reviveStoredAnew(catalogue: Catalogue, scope: Scope, id: string): void {
  const told = catalogue.database.get<{ at: number | null }>(
    `select min(s.created_at) as at from tombstone as t join stored as s on s.blob_id = t.quilt
     where t.owner = ? and t.namespace = ? and t.id = ?
     and +s.owner = t.owner and +s.namespace = t.namespace`,
    ...columnsOf(scope),
    id,
  );
  if (typeof told?.at !== "number") return;
  if (isStoredSince(catalogue, scope, id, told.at)) catalogue.removeTombstone(scope, id);
}
