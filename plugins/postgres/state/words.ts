import { SvcError } from "../../../src/errors.ts";
import type { Scope, WordsStore } from "../../../src/interfaces/mod.ts";
import { columnsOf } from "../../../src/storage/sqlite/database.ts";
import type { DatabaseShare } from "../shared_database.ts";

const literal = (bytes: Uint8Array): string => `'\\x${bytes.toHex()}'::bytea`;

/** Makes the rows of a generation those of its scope, where nothing was written or removed since. */
const TAKE = `insert into svc.words_turn as t (owner, namespace, turn, generation)
  select $1, $2, $3::bigint + 1, $4 from svc.owner where owner = $1 and holder = $5 for share
  on conflict (owner, namespace) do update
    set turn = excluded.turn, generation = excluded.generation where t.turn = $3
  returning turn`;

const TURN = `insert into svc.words_turn as t (owner, namespace, turn) values($1, $2, 1)
  on conflict (owner, namespace) do update set turn = t.turn + 1, generation = null`;

/** Removes what was written before. */
const CLEAN = `delete from svc.words w using svc.words_turn t
  where t.owner = $1 and t.namespace = $2 and w.owner = t.owner and w.namespace = t.namespace
    and w.generation is distinct from t.generation`;

/** Words of scopes in a table; written by the holder of the owner's lease. */
export class PostgresWords implements WordsStore {
  readonly #share: DatabaseShare;
  readonly #holder: number;

  constructor(share: DatabaseShare, holder: number) {
    this.#share = share;
    this.#holder = holder;
  }

  async read(scope: Scope): Promise<Uint8Array[]> {
    const [owner, namespace] = columnsOf(scope).map(literal);
    const records: Uint8Array[] = [];
    await this.#opened().database.copy(
      `select w.bytes from svc.words_turn t join svc.words w using(owner, namespace, generation)
       where t.owner = ${owner} and t.namespace = ${namespace} order by w.part`,
      { bytes: "bytea" },
      ({ bytes }) => void records.push(bytes!.slice()),
    );
    return records;
  }

  async turn(scope: Scope): Promise<number> {
    const sql = "select turn from svc.words_turn where owner = $1 and namespace = $2";
    const row = await this.#opened().database.get<{ readonly turn: number }>(
      sql,
      ...columnsOf(scope),
    );
    return row?.turn ?? 0;
  }

  async write(scope: Scope, turn: number, records: readonly Uint8Array[]): Promise<void> {
    const columns = columnsOf(scope);
    const generation = crypto.getRandomValues(new Uint8Array(8));
    const insert = "insert into svc.words values($1, $2, $3, $4, $5)";
    const { database } = this.#opened();
    await database.transaction(async (statements) => {
      // Rows of their own, so that nobody waits for them, however long they take.
      for (const [part, bytes] of records.entries()) {
        await statements.all(insert, ...columns, generation, part, bytes);
      }
      const taken = await statements.get(TAKE, ...columns, turn, generation, this.#holder);
      if (taken === undefined) throw new SvcError("overloaded");
    });
    // Not before: others wait for the owner's row meanwhile.
    await database.all(CLEAN, ...columns);
  }

  async drop(scope: Scope): Promise<void> {
    const columns = columnsOf(scope);
    await this.#opened().database.transaction(async (statements) => {
      // In this order, as a writing has it; and what it wrote until here is seen by the second one.
      await statements.all(TURN, ...columns);
      await statements.all(CLEAN, ...columns);
    });
  }

  #opened(): DatabaseShare {
    this.#share.check(undefined);
    return this.#share;
  }
}
