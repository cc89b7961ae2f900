import type { IndexEntry, Scope } from "../../interfaces/mod.ts";
import { scopeKey } from "../../interfaces/scope_key.ts";

/** A row that may be written. */
type Row = Pick<IndexEntry, "id" | "updatedAt">;

interface Write extends Row {
  /** How many writes of it wait for their answer. */
  underWay: number;
}

/**
 * Rows that are written beside jobs, by a restore or because the model changed. A deletion that
 * comes between such a write and its answer removes the row too early, and a forget does not see
 * one that is not indexed: both ask here, so that no row of a deleted memory stays.
 */
export class RowWrites {
  readonly #scopes = new Map<string, Map<string, Write>>();

  /**
   * Notes rows of a scope while `write` runs, which is begun at once. Those of a failed write may be
   * there all the same, and stay noted until they are written again or removed.
   */
  async hold(scope: Scope, rows: readonly Row[], write: () => Promise<void>): Promise<void> {
    const writes = this.#scopes.getOrInsertComputed(scopeKey(scope), () => new Map());
    for (const { id, updatedAt } of rows) {
      const underWay = (writes.get(id)?.underWay ?? 0) + 1;
      writes.set(id, { id, updatedAt, underWay });
    }
    let isWritten = false;
    try {
      await write();
      isWritten = true;
    } finally {
      for (const { id } of rows) writes.get(id)!.underWay--;
      if (isWritten) this.removed(scope, rows.map(({ id }) => id));
    }
  }

  /** Whether a row is being written: its writer looks for tombstones afterwards. */
  isUnderWay(scope: Scope, id: string): boolean {
    return (this.#scopes.get(scopeKey(scope))?.get(id)?.underWay ?? 0) > 0;
  }

  /** Rows of a scope that may be there, or will be, although the index does not have them. */
  in(scope: Scope): Row[] {
    return [...this.#scopes.get(scopeKey(scope))?.values() ?? []];
  }

  /** Notes that the store has no such rows, but for those that are being written. */
  removed(scope: Scope, ids: readonly string[]): void {
    const key = scopeKey(scope);
    const writes = this.#scopes.get(key);
    for (const id of ids) if (writes?.get(id)?.underWay === 0) writes.delete(id);
    if (writes?.size === 0) this.#scopes.delete(key);
  }
}
