import type { ConflictPolicy } from "../../interfaces/config.ts";
import type { Scope } from "../../interfaces/mod.ts";
import { scopeKey } from "../../interfaces/scope_key.ts";
import { fromColumn, toColumn } from "../sqlite/database.ts";
import type { SqliteFile } from "../sqlite/sqlite_file.ts";

export const POLICY_SCHEMA = `
  create table if not exists namespace_policy (
    owner text not null, namespace blob not null, conflicts text not null,
    primary key (owner, namespace)
  ) strict, without rowid;
`;

interface Row {
  readonly owner: string;
  readonly namespace: Uint8Array;
  readonly conflicts: ConflictPolicy;
}

/**
 * What owners chose for single namespaces; the relayer's settings hold elsewhere. Calls are synchronous
 * and durable on return.
 */
export class PolicyTable {
  readonly #file: SqliteFile;
  /** All of them, read once: every write asks. */
  #known: Map<string, Pick<Scope, "owner"> & { readonly conflicts: ConflictPolicy }> | undefined;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  /** What becomes of contradictions in a namespace; `undefined` where nothing was chosen. */
  conflictsIn(scope: Scope): ConflictPolicy | undefined {
    return this.#all().get(scopeKey(scope))?.conflicts;
  }

  /** Number of namespaces for which an owner chose. */
  countOf(owner: string): number {
    return this.#all().values().filter((row) => row.owner === owner).toArray().length;
  }

  /** Notes what an owner chose; with `undefined` the relayer's setting holds again. */
  setConflicts(scope: Scope, conflicts: ConflictPolicy | undefined): void {
    const known = this.#all();
    const place = [scope.owner, toColumn(scope.namespace)] as const;
    if (conflicts === undefined) {
      if (!known.has(scopeKey(scope))) return;
      this.#file.run("delete from namespace_policy where owner = ? and namespace = ?", ...place);
      known.delete(scopeKey(scope));
      return;
    }
    const sql = `insert into namespace_policy values (?, ?, ?)
      on conflict (owner, namespace) do update set conflicts = excluded.conflicts`;
    this.#file.run(sql, ...place, conflicts);
    known.set(scopeKey(scope), { owner: scope.owner, conflicts });
  }

  #all() {
    return this.#known ??= new Map(
      this.#file.all<Row>("select * from namespace_policy").map((row) => {
        const { owner, conflicts } = row;
        return [scopeKey({ owner, namespace: fromColumn(row.namespace) }), { owner, conflicts }];
      }),
    );
  }
}
