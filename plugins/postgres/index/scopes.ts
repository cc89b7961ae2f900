import { BoundedMap } from "../../../src/bounded_map.ts";
import type { OutdatedScope, Scope, ScopeCount } from "../../../src/interfaces/mod.ts";
import {
  columnsOf,
  fromColumn,
  type ScopeColumns,
  scopeOf,
  toColumn,
} from "../../../src/storage/sqlite/database.ts";
import type { Statements } from "../statements.ts";

/** Most scopes whose number is remembered: it never changes, and a scope is never removed. */
const MAX_KNOWN = 10_000;

/** Scopes of the index, which are rows of a table. */
export class Scopes {
  readonly #database: Statements;
  readonly #known = new BoundedMap<string, number>(MAX_KNOWN);

  constructor(database: Statements) {
    this.#database = database;
  }

  /** Number of a scope; `undefined` when it was never written. */
  async find(scope: Scope): Promise<number | undefined> {
    const sql = "select id from svc.scope where owner = $1 and namespace = $2";
    return await this.#ask(scope, sql);
  }

  /** Number of a scope, which is made where there is none. */
  async findOrMake(scope: Scope): Promise<number> {
    const found = await this.find(scope);
    if (found !== undefined) return found;
    // An update that changes nothing: without it a row that is there would not be answered.
    const sql = `insert into svc.scope(owner, namespace) values($1, $2)
      on conflict (owner, namespace) do update set owner = excluded.owner returning id`;
    return (await this.#ask(scope, sql))!;
  }

  /** What the owner's scopes hold, by namespace; empty ones are left out. */
  async counts(owner: string): Promise<ScopeCount[]> {
    const sql = `select namespace, count, bytes, last_write as "lastWriteAt" from svc.scope
      where owner = $1 and count > 0`;
    type Row = Omit<ScopeCount, "namespace"> & { readonly namespace: Uint8Array };
    const rows = await this.#database.all<Row>(sql, toColumn(owner));
    return rows.map((row) => ({ ...row, namespace: fromColumn(row.namespace) }))
      .sort((a, b) => a.namespace < b.namespace ? -1 : 1);
  }

  /** Scopes that hold vectors of another model than this one. */
  async outdated(model: number): Promise<OutdatedScope[]> {
    const rows = await this.#database.all<ScopeColumns & { readonly count: number }>(
      `select s.owner, s.namespace, count(*) as count from (
         select scope from svc.entry where model < $1 or model > $1
         union all
         select e.scope from svc.segment g join svc.entry e on e.scope = g.scope and e.segment = g.id
         where g.model < $1 or g.model > $1) as old
       join svc.scope s on s.id = old.scope group by s.id`,
      model,
    );
    return rows.map((row) => ({ ...scopeOf(row), count: row.count }));
  }

  async #ask(scope: Scope, sql: string): Promise<number | undefined> {
    const columns = columnsOf(scope);
    const name = JSON.stringify([scope.owner, scope.namespace]);
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const id = (await this.#database.get<{ id: number }>(sql, ...columns))?.id;
    if (id !== undefined) this.#known.set(name, id);
    return id;
  }
}
