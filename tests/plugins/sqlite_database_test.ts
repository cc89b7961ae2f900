import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { Database, fromColumn, toColumn } from "../../plugins/sqlite/database.ts";
import { SvcError } from "../../src/errors.ts";
import { folderForTests } from "./sealer_for_tests.ts";

function open(dataDir: string): Database {
  return new Database({
    dataDir,
    file: "numbers.db",
    schema: "create table if not exists number(n integer primary key)",
    remedy: "count again",
  });
}

Deno.test("writes of one turn share a transaction and a bad one refuses only itself", async () => {
  await using folder = await folderForTests();
  const database = open(folder.path);
  const add = (n: number) => database.write(() => database.run("insert into number values(?)", n));
  await Promise.all([1, 2, 3].map(add));
  assert.equal(database.commits, 1);
  const results = await Promise.allSettled([4, 1, 5].map(add));
  assert.deepEqual(results.map((r) => r.status), ["fulfilled", "rejected", "fulfilled"]);
  assert.deepEqual(
    database.all<{ n: number }>("select n from number").map(({ n }) => n),
    [1, 2, 3, 4, 5],
  );
  await database.close();
  await database.close();
});

Deno.test("the file is written ahead, synced, overwritten and private", async () => {
  await using folder = await folderForTests();
  const path = `${folder.path}/new/numbers.db`;
  const first = open(`${folder.path}/new`);
  await first.close();
  await Deno.chmod(path, 0o644);
  const database = open(`${folder.path}/new`);
  await database.write(() => database.run("insert into number values(1)"));
  const pragma = (name: string) => Object.values(database.get<object>(`pragma ${name}`)!)[0];
  assert.deepEqual(
    ["journal_mode", "synchronous", "secure_delete", "busy_timeout"].map(pragma),
    ["wal", 2, 1, 5000],
  );
  for (const suffix of ["", "-wal", "-shm"]) {
    assert.equal((await Deno.stat(path + suffix)).mode! & 0o777, 0o600);
  }
  assert.equal((await Deno.stat(`${folder.path}/new`)).mode! & 0o777, 0o700);
  await database.close();
});

Deno.test("failures of SQLite are storage_unavailable, with the reason as cause", async () => {
  await using folder = await folderForTests();
  const database = open(folder.path);
  const unavailable = (error: unknown) =>
    error instanceof SvcError && error.code === "storage_unavailable" && error.retryable &&
    !error.message.includes("number") && error.cause instanceof Error;
  assert.throws(() => database.all("select nothing from number"), unavailable);
  {
    using other = new DatabaseSync(`${folder.path}/numbers.db`);
    other.exec("begin immediate");
    database.run("pragma busy_timeout = 1");
    await assert.rejects(database.write(() => database.run("select 1")), unavailable);
    other.exec("rollback");
  }
  database.run("pragma max_page_count = 1");
  await assert.rejects(
    database.write(() => database.run("create table big as select zeroblob(100000)")),
    unavailable,
  );
  database.run("pragma max_page_count = 1000");
  await database.write(() => database.run("insert into number values(1)"));
  await database.close();
  await Deno.writeTextFile(`${folder.path}/numbers.db`, "damaged".repeat(1000));
  assert.throws(() => open(folder.path), (error: unknown) => {
    assert.ok(error instanceof SvcError && !error.retryable);
    assert.equal(error.message, "numbers.db is damaged: count again");
    return true;
  });
});

Deno.test("names survive as columns byte for byte", () => {
  for (const name of ["", "a\0b", "\ufeff", "e\u0301", "🦕", "'\""]) {
    assert.equal(fromColumn(toColumn(name)), name);
  }
  assert.throws(() => toColumn("\udc00"), { code: "invalid_parameter" });
});
