import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { mock } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { CheckpointAnswer } from "../../src/storage/sqlite/checkpoints.ts";
import { Checkpoints } from "../../src/storage/sqlite/checkpoints.ts";
import { Database, fromColumn, toColumn } from "../../src/storage/sqlite/database.ts";
import { SqliteFile } from "../../src/storage/sqlite/sqlite_file.ts";
import { WriteAheadLog } from "../../src/storage/sqlite/write_ahead_log.ts";
import { SvcError } from "../../src/errors.ts";
import { folderForTests } from "../plugins/sealer_for_tests.ts";

function open(dataDir: string): Database {
  return new Database({
    path: `${dataDir}/numbers.db`,
    schema: "create table if not exists number(n integer primary key)",
    remedy: "count again",
  });
}

Deno.test("writes of one turn share a transaction and a bad one refuses only itself", async () => {
  await using folder = await folderForTests();
  const database = open(folder.path);
  const add = (n: number) => database.write(() => database.run("insert into number values(?)", n));
  const exec = mock.method(database, "exec");
  // A transaction ends after some milliseconds, and a busy machine may take them.
  const clock = mock.method(performance, "now", () => 0);
  await Promise.all([1, 2, 3].map(add));
  clock.mock.restore();
  assert.deepEqual(exec.mock.calls.map((call) => call.arguments), [["begin immediate"], [
    "commit",
  ]]);
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
    // Each write syncs the log itself, see WriteAheadLog.
    ["wal", 1, 1, 5000],
  );
  for (const suffix of ["", "-wal", "-shm"]) {
    assert.equal((await Deno.stat(path + suffix)).mode! & 0o777, 0o600);
  }
  assert.equal((await Deno.stat(`${folder.path}/new`)).mode! & 0o777, 0o700);
  await database.close();
});

Deno.test("the log is copied into the database beside the writes, and starts anew", async () => {
  await using folder = await folderForTests();
  const log = `${folder.path}/numbers.db-wal`;
  const database = open(folder.path);
  await database.write(() => database.run("create table big(bytes blob)"));
  // Counts how often the log started anew: https://www.sqlite.org/fileformat.html#walformat
  const starts = async () => new DataView((await Deno.readFile(log)).buffer).getUint32(12);
  const bytes = new Uint8Array(300);
  let rows = 0;
  const end = Date.now() + 60_000;
  while (await starts() < 3 && Date.now() < end) {
    const writes = Array.from(
      { length: 100 },
      () => database.write(() => database.run("insert into big values(?)", bytes)),
    );
    rows += (await Promise.all(writes)).length;
  }
  assert.equal(await starts(), 3);
  const count = (from: Database) => from.get<{ n: number }>("select count(*) as n from big");
  assert.equal(count(database)?.n, rows);
  await database.close();
  await assert.rejects(Deno.stat(log), Deno.errors.NotFound);
  const again = open(folder.path);
  assert.equal(count(again)?.n, rows);
  await again.close();
});

Deno.test("without the thread, the log is copied by whoever commits", async () => {
  await using folder = await folderForTests();
  const path = `${folder.path}/numbers.db`;
  using database = new DatabaseSync(path);
  database.exec("pragma journal_mode=wal; create table number(n)");
  const checkpoints = new Checkpoints(() => {
    const worker = {
      onmessage: null,
      onerror: null as ((event: ErrorEvent) => void) | null,
      postMessage: () => worker.onerror?.(new ErrorEvent("error", { message: "gone" })),
      terminate: () => {},
    };
    return worker;
  });
  for (
    const broken of [
      checkpoints,
      new Checkpoints(() => {
        throw new Error("no threads");
      }),
    ]
  ) {
    let failed = 0;
    const onFailed = () => failed++;
    const log = new WriteAheadLog({ path, onFailed, checkpoints: broken, bytes: 10_000 });
    // Tried once: whoever commits does it from then on.
    for (let i = 0; i < 5; i++) {
      log.changed(1, 3000);
      await log.sync();
    }
    await log.close();
    assert.equal(failed, 1);
  }
});

Deno.test("a thread that never answers holds up nobody for long", async () => {
  await using folder = await folderForTests();
  const path = `${folder.path}/numbers.db`;
  using database = new DatabaseSync(path);
  database.exec("pragma journal_mode=wal; create table number(n)");
  let asked = 0;
  const checkpoints = new Checkpoints(() => {
    const worker = {
      onmessage: null as ((event: MessageEvent<CheckpointAnswer>) => void) | null,
      onerror: null,
      // The first call is answered, the second one is what writes wait for.
      postMessage: ({ id }: { id: number }) => {
        if (++asked === 1) worker.onmessage?.(new MessageEvent("message", { data: { id } }));
      },
      terminate: () => {},
    };
    return worker;
  });
  const log = new WriteAheadLog({ path, onFailed: () => {}, checkpoints, bytes: 1 });
  mock.timers.enable({ apis: ["setTimeout"] });
  /** Resolves with the work, which may take so many milliseconds of timers. */
  const overIn = async (ms: number, work: Promise<void>) => {
    let isOver = false;
    const over = work.then(() => isOver = true);
    for (let passed = 0; !isOver; passed += 100) {
      assert.ok(passed <= ms, `not over after ${ms} ms`);
      mock.timers.tick(100);
      await setImmediate();
    }
    await over;
  };
  try {
    log.changed(1, 1);
    while (asked < 2) await Promise.resolve();
    await Promise.resolve();
    assert.notEqual(log.hold, undefined);
    await overIn(2000, log.hold!);
    assert.equal(log.hold, undefined);
    await overIn(2000, log.close());
  } finally {
    mock.timers.reset();
  }
});

Deno.test("two connections share the thread, and one may leave", async () => {
  await using folder = await folderForTests();
  const [first, second] = [open(folder.path), open(folder.path)];
  const blob = new Uint8Array(200_000);
  await first.write(() => first.run("create table big(bytes blob)"));
  const starts = async () => {
    const log = await Deno.readFile(`${folder.path}/numbers.db-wal`);
    return new DataView(log.buffer).getUint32(12);
  };
  const fill = async (database: Database, until: number) => {
    for (const end = Date.now() + 60_000; await starts() < until && Date.now() < end;) {
      await database.write(() => database.run("insert into big values(?)", blob));
    }
    assert.ok(await starts() >= until);
  };
  await fill(first, 1);
  await fill(second, 2);
  await first.close();
  await fill(second, await starts() + 2);
  await second.close();
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

Deno.test("what an earlier version wrote is changed whole, or not at all", async () => {
  await using folder = await folderForTests();
  const path = `${folder.path}/numbers.db`;
  const schema = "create table if not exists number(n integer primary key)";
  const add = (file: SqliteFile) => file.exec("alter table number add column name any");
  const refused = new SvcError("invalid_parameter", "Somebody else's");
  const refuse = (file: SqliteFile) => {
    add(file);
    throw refused;
  };
  assert.throws(() => new SqliteFile({ path, schema, migrate: refuse }), refused);
  const database = new Database({ path, schema, migrate: add });
  await database.write(() => database.run("insert into number values(1, 'one')"));
  await database.close();
  const file = new SqliteFile({ path, schema });
  assert.deepEqual({ ...file.get<object>("select * from number") }, { n: 1, name: "one" });
  assert.deepEqual({ ...file.get<object>("pragma synchronous") }, { synchronous: 2 });
  await file.close();
});

Deno.test("names survive as columns byte for byte", () => {
  for (const name of ["", "a\0b", "\ufeff", "e\u0301", "🦕", "'\""]) {
    assert.equal(fromColumn(toColumn(name)), name);
  }
  assert.throws(() => toColumn("\udc00"), { code: "invalid_parameter" });
});

Deno.test("after an fsync that failed every write says that a restart is needed", async () => {
  await using folder = await folderForTests();
  const database = open(folder.path);
  const add = (n: number) => database.write(() => database.run("insert into number values(?)", n));
  const { syncData } = Deno.FsFile.prototype;
  Deno.FsFile.prototype.syncData = () => Promise.reject(new Error("EIO"));
  try {
    for (const n of [1, 2]) {
      await assert.rejects(add(n), (error: SvcError) => {
        assert.equal(error.code, "storage_unavailable");
        return error.message.startsWith("numbers.db: the disk refused to keep a write; restart");
      });
    }
  } finally {
    Deno.FsFile.prototype.syncData = syncData;
    await database.close();
  }
});
