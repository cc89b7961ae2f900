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
  create table if not exists namespace_repetition (
    owner text not null, namespace blob not null, deduplicate integer not null,
    primary key (owner, namespace)
  ) strict, without rowid;
`;

interface Place {
  readonly owner: string;
  readonly namespace: Uint8Array;
}

/** What an owner chose for a namespace. */
interface Chosen extends Pick<Scope, "owner"> {
  conflicts?: ConflictPolicy | undefined;
  deduplicates?: boolean | undefined;
}

/**
 * What owners chose for single namespaces; the relayer's settings hold elsewhere. Calls are synchronous
 * and durable on return.
 */
export class PolicyTable {
  readonly #file: SqliteFile;
  /** All of them, read once: every write asks. */
  #known: Map<string, Chosen> | undefined;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  /** To be called when rows were exchanged by somebody else. */
  reread(): void {
    this.#known = undefined;
  }

  /** What becomes of contradictions in a namespace; `undefined` where nothing was chosen. */
  conflictsIn(scope: Scope): ConflictPolicy | undefined {
    return this.#all().get(scopeKey(scope))?.conflicts;
  }

  /** Whether what says the same is looked for in a namespace; `undefined` where nothing was chosen. */
  deduplicatesIn(scope: Scope): boolean | undefined {
    return this.#all().get(scopeKey(scope))?.deduplicates;
  }

  /** Number of namespaces for which an owner chose. */
  countOf(owner: string): number {
    return this.#all().values().filter((row) => row.owner === owner).toArray().length;
  }

  /** Notes what an owner chose; with `undefined` the relayer's setting holds again. */
  setConflicts(scope: Scope, conflicts: ConflictPolicy | undefined): void {
    if (conflicts === this.conflictsIn(scope)) return;
    const place = [scope.owner, toColumn(scope.namespace)] as const;
    if (conflicts === undefined) {
      this.#file.run("delete from namespace_policy where owner = ? and namespace = ?", ...place);
    } else {
      const sql = `insert into namespace_policy values (?, ?, ?)
        on conflict (owner, namespace) do update set conflicts = excluded.conflicts`;
      this.#file.run(sql, ...place, conflicts);
    }
    this.#note(scope, { conflicts });
  }

  /** The same for whether what says the same is looked for. */
  setDeduplicates(scope: Scope, deduplicates: boolean | undefined): void {
    if (deduplicates === this.deduplicatesIn(scope)) return;
    const place = [scope.owner, toColumn(scope.namespace)] as const;
    if (deduplicates === undefined) {
      this.#file.run(
        "delete from namespace_repetition where owner = ? and namespace = ?",
        ...place,
      );
    } else {
      const sql = `insert into namespace_repetition values (?, ?, ?)
        on conflict (owner, namespace) do update set deduplicate = excluded.deduplicate`;
      this.#file.run(sql, ...place, Number(deduplicates));
    }
    this.#note(scope, { deduplicates });
  }

  #note(scope: Scope, changes: Omit<Chosen, "owner">): void {
    const known = this.#all();
    const chosen: Chosen = { owner: scope.owner, ...known.get(scopeKey(scope)), ...changes };
    const isEmpty = chosen.conflicts === undefined && chosen.deduplicates === undefined;
    if (isEmpty) known.delete(scopeKey(scope));
    else known.set(scopeKey(scope), chosen);
  }

  #all(): Map<string, Chosen> {
    return this.#known ??= this.#read();
  }

  #read(): Map<string, Chosen> {
    const found = new Map<string, Chosen>();
    const at = ({ owner, namespace }: Place) => {
      const key = scopeKey({ owner, namespace: fromColumn(namespace) });
      return found.getOrInsertComputed(key, () => ({ owner }));
    };
    type Conflicts = Place & { readonly conflicts: ConflictPolicy };
    for (const row of this.#file.all<Conflicts>("select * from namespace_policy")) {
      at(row).conflicts = row.conflicts;
    }
    type Repetition = Place & { readonly deduplicate: number };
    for (const row of this.#file.all<Repetition>("select * from namespace_repetition")) {
      at(row).deduplicates = row.deduplicate !== 0;
    }
    return found;
  }
}
