import assert from "node:assert/strict";
import { getPriority } from "node:os";
import { DatabaseSync } from "node:sqlite";
import { Checkpoints } from "../../src/storage/sqlite/checkpoints.ts";
import { Database } from "../../src/storage/sqlite/database.ts";
import { newThreads, threadNiceness } from "../program/thread_niceness.ts";
import { folderForTests } from "../plugins/sealer_for_tests.ts";

function open(dataDir: string): Database {
  return new Database({
    path: `${dataDir}/numbers.db`,
    schema: "create table if not exists number(n integer primary key)",
    remedy: "count again",
  });
}

Deno.test({
  name: "the thread that copies logs lets the others of the process go first",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using folder = await folderForTests();
    const path = `${folder.path}/numbers.db`;
    using database = new DatabaseSync(path);
    database.exec("pragma journal_mode=wal; create table number(n)");
    const before = threadNiceness(Deno.pid);
    const checkpoints = new Checkpoints();
    checkpoints.join(path);
    await checkpoints.run(path);
    assert.ok(newThreads(Deno.pid, before, getPriority() + 5).length > 0);
    await checkpoints.leave(path);
  },
});

Deno.test({
  name: "a second connection leaves the first one's locks alone",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using folder = await folderForTests();
    const first = open(folder.path);
    await first.write(() => first.run("insert into number values(1)"));
    const { ino } = await Deno.stat(`${folder.path}/numbers.db`);
    const locks = async () => (await Deno.readTextFile("/proc/locks")).includes(`:${ino} `);
    assert.ok(await locks());
    const second = open(folder.path);
    assert.ok(await locks());
    await second.close();
    assert.ok(await locks());
    await first.close();
  },
});
