import assert from "node:assert/strict";
import { PostgresDatabase } from "../../../plugins/postgres/database.ts";
import { parseAddress } from "../../../plugins/postgres/mod.ts";
import { onServer } from "./on_server.ts";

const COLUMNS = { n: "bigint", m: "integer", bytes: "bytea" } as const;

onServer((empty) => {
  /** One connection, so that a call finds what the one before has left. */
  const withDatabase = async (body: (database: PostgresDatabase) => Promise<void>) => {
    const database = await PostgresDatabase.open({
      address: parseAddress(await empty()),
      connections: 1,
    });
    try {
      await body(database);
    } finally {
      await database.close();
    }
  };
  const copy = async (database: PostgresDatabase, sql: string) => {
    const rows: unknown[] = [];
    await database.copy(sql, COLUMNS, (row) => rows.push(row));
    return rows;
  };

  Deno.test("a copy has what a statement has, byte for byte", () =>
    withDatabase(async (database) => {
      const all = Uint8Array.from({ length: 256 }, (_, n) => n);
      const sql =
        `select 9007199254740991::bigint as n, -7 as m, '\\x${all.toHex()}'::bytea as bytes
        union all select null, null, null
        union all select -1, 2147483647, repeat('ab', 1000000)::bytea
        union all select 0, 0, ''::bytea`;
      const rows = await copy(database, sql);
      assert.deepEqual(rows, await database.all(sql));
      assert.equal(rows.length, 4);
      assert.deepEqual(await copy(database, `select * from (${sql}) as none where n = 5`), []);
      const many = "select n, 1 as m, decode(lpad(to_hex(n), 8, '0'), 'hex') as bytes " +
        "from generate_series(1::bigint, 20000) as n";
      assert.equal((await copy(database, many)).length, 20_000);
    }));

  Deno.test("a copy that is refused leaves its connection as it was", () =>
    withDatabase(async (database) => {
      await assert.rejects(copy(database, "select * from nowhere"), {
        code: "storage_unavailable",
        message: "The database refused a statement (42P01)",
      });
      const late =
        "select n, 1 / (5000 - n)::int, null::bytea from generate_series(1::bigint, 5000) n";
      await assert.rejects(copy(database, late), { message: /\(22012\)/ });
      const failure = new Error("of the taker");
      let taken = 0;
      const call = database.copy("select 1::bigint, 2, null::bytea", COLUMNS, () => {
        taken++;
        throw failure;
      });
      await assert.rejects(call, (error: Error) => error.cause === failure);
      assert.equal(taken, 1);
      assert.deepEqual(await copy(database, "select 1::bigint, 2, null::bytea"), [
        { n: 1, m: 2, bytes: null },
      ]);
    }));

  Deno.test("a connection that breaks within a copy is told, and replaced", () =>
    withDatabase(async (database) => {
      const sql =
        "select n, case when n = 4000 then pg_terminate_backend(pg_backend_pid())::int end," +
        " null::bytea from generate_series(1::bigint, 9000) as n";
      await assert.rejects(copy(database, sql), { code: "storage_unavailable" });
      assert.equal((await copy(database, "select 1::bigint, 2, null::bytea")).length, 1);
    }));
});
