import { SvcError } from "../../../src/errors.ts";
import type { Scope, WordsStore } from "../../../src/interfaces/mod.ts";
import { columnsOf, toColumn } from "../../../src/storage/sqlite/database.ts";
import type { DatabaseShare } from "../shared_database.ts";

const literal = (bytes: Uint8Array): string => `'\\x${bytes.toHex()}'::bytea`;

/** Words of scopes in a table; written by the holder of the owner's lease. */
export class PostgresWords implements WordsStore {
  readonly #share: DatabaseShare;
  readonly #holder: number;

  constructor(share: DatabaseShare, holder: number) {
    this.#share = share;
    this.#holder = holder;
  }

  async read(scope: Scope): Promise<Uint8Array[]> {
    const { database } = this.#opened();
    const [owner, namespace] = columnsOf(scope).map(literal);
    const records: Uint8Array[] = [];
    await database.copy(
      `select bytes from svc.words where owner = ${owner} and namespace = ${namespace}
       order by part`,
      { bytes: "bytea" },
      ({ bytes }) => void records.push(bytes!.slice()),
    );
    return records;
  }

  async write(scope: Scope, make: () => AsyncIterable<Uint8Array>): Promise<void> {
    const { database } = this.#opened();
    const columns = columnsOf(scope);
    const insert = "insert into svc.words(owner, namespace, part, bytes) values($1, $2, $3, $4)";
    await database.transaction(async (statements) => {
      await statements.all("delete from svc.words where owner = $1 and namespace = $2", ...columns);
      let part = 0;
      for await (const bytes of make()) await statements.all(insert, ...columns, part++, bytes);
      // At the end: what is written for the owner meanwhile must not wait for megabytes.
      const own = "select 1 from svc.owner where owner = $1 and holder = $2 for share";
      const found = await statements.get(own, toColumn(scope.owner), this.#holder);
      if (found === undefined) throw new SvcError("overloaded");
    });
  }

  async drop(scope: Scope): Promise<void> {
    const sql = "delete from svc.words where owner = $1 and namespace = $2";
    await this.#opened().database.all(sql, ...columnsOf(scope));
  }

  #opened(): DatabaseShare {
    this.#share.check(undefined);
    return this.#share;
  }
}
