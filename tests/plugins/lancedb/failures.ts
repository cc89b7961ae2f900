import assert from "node:assert/strict";
import { mock } from "node:test";
import { FlushLog } from "../../../plugins/lancedb/flush_log.ts";
import type { LanceTable, Opaque } from "../../../plugins/lancedb/library_api.ts";
import { FailingTable, memory, SCOPE } from "./failing_table.ts";

/** Carries three memories over, which fails, and then a fourth; the store must open again. */
async function carryTwice(failing: FailingTable, mend: () => void): Promise<void> {
  {
    await using store = await failing.open({ rows: 1000 });
    await store.upsert([1, 2, 3].map(memory));
    await failing.after(() => failing.beQuiet());
    mend();
    await store.upsert([memory(4)]);
    failing.beQuiet();
  }
  await using store = await failing.open();
  assert.equal((await store.scan(SCOPE)).entries.length, 4);
  assert.equal(failing.logged.length, 1);
}

Deno.test("an append that could not be undone is undone before the next", async () => {
  await using failing = await FailingTable.create();
  const { add } = failing.methods;
  const added = mock.method(
    failing.methods,
    "add",
    async function (this: LanceTable, rows: Opaque) {
      await add.call(this, rows);
      throw new Error("the rows are in the table all the same");
    },
  );
  const deleted = mock.method(failing.methods, "delete", () => Promise.reject(new Error("no")));
  await carryTwice(failing, () => {
    added.mock.restore();
    deleted.mock.restore();
  });
});

Deno.test("an append that could not be confirmed is undone before the next", async () => {
  await using failing = await FailingTable.create();
  const refuse = () => Promise.reject(new Error("the catalogue takes nothing"));
  const confirmed = mock.method(FlushLog.prototype, "confirm", refuse);
  await carryTwice(failing, () => confirmed.mock.restore());
});

Deno.test("what cannot be carried over is tried again after growing pauses alone", async () => {
  await using failing = await FailingTable.create();
  const added = mock.method(failing.methods, "add", () => Promise.reject(new Error("no")));
  const deleted = mock.method(failing.methods, "delete");
  let tries = 1;
  const assertTries = () => {
    assert.deepEqual([added.mock.callCount(), failing.logged.length], [tries, tries]);
    // Every try but the first begins with undoing the one before.
    assert.equal(deleted.mock.callCount(), tries - 1);
  };
  let written = 0;
  {
    await using store = await failing.open();
    const write = () => store.upsert([memory(++written)]);
    await failing.after(write);
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
      for (let i = 0; i < 5; i++) await write();
      mock.timers.tick(seconds * 1000 - 1);
      await write();
      assertTries();
      await failing.after(() => mock.timers.tick(1));
      tries++;
      assertTries();
    }
  }
  // A stop waits for no pause, and none outlives it.
  mock.timers.tick(60_000);
  assertTries();
  added.mock.restore();
  await using store = await failing.open();
  assert.equal((await store.scan(SCOPE)).entries.length, written);
});

Deno.test("after a success writes are tried at once, and pauses begin anew", async () => {
  await using failing = await FailingTable.create();
  const { add } = failing.methods;
  const added = Promise.withResolvers<void>();
  let refused = true;
  mock.method(failing.methods, "add", async function (this: LanceTable, rows: Opaque) {
    if (refused) throw new Error("no");
    await add.call(this, rows);
    refused = true;
    added.resolve();
  });
  await using store = await failing.open();
  await failing.after(() => store.upsert([memory(1)]));
  await failing.after(() => mock.timers.tick(1000));
  refused = false;
  mock.timers.tick(2000);
  await added.promise;
  await failing.after(() => store.upsert([memory(2)]));
  await failing.after(() => mock.timers.tick(1000));
  assert.equal(failing.logged.length, 4);
});

Deno.test("a table that cannot be put in order takes what is written all the same", async () => {
  await using failing = await FailingTable.create();
  const added = mock.method(failing.methods, "add");
  const optimized = mock.method(
    failing.methods,
    "optimize",
    () => Promise.reject(new Error("no room for the table a second time")),
  );
  await using store = await failing.open({ commits: 1 });
  for (const number of [1, 2, 3]) {
    await failing.after(() => store.upsert([memory(number)]));
    assert.deepEqual([added.mock.callCount(), optimized.mock.callCount()], [number, number]);
  }
  const line = "LanceDB: small files wait in the table (storage_unavailable)";
  assert.deepEqual(failing.logged, [line, line, line]);
});

/** Watches which files are synced, by opening them; refuses some while a test wants that. */
function watchSyncs() {
  const { open } = Deno;
  const watch = { synced: new Set<string>(), refused: /^$/ };
  mock.method(Deno, "open", async (path: string, options?: Deno.OpenOptions) => {
    if (watch.refused.test(path)) throw new Error("too many open files");
    const file = await open(path, options);
    watch.synced.add(path);
    return file;
  });
  return watch;
}

for (const restarted of [false, true]) {
  const who = restarted ? "start" : "try";
  Deno.test(`the next ${who} syncs the files of a deletion that could not be`, async () => {
    await using failing = await FailingTable.create();
    const watch = watchSyncs();
    {
      await using store = await failing.open();
      await store.upsert([1, 2].map(memory));
    }
    {
      await using store = await failing.open();
      watch.refused = /_deletions/;
      await store.delete(SCOPE, [memory(1).id]);
      await failing.after(() => failing.beQuiet());
      watch.refused = /^$/;
      const minuteAgo = new Date(Date.now() - 60_000);
      for (const path of await failing.files()) await Deno.utime(path, minuteAgo, minuteAgo);
      if (!restarted) mock.timers.tick(1000);
    }
    await using _store = await failing.open();
    assert.deepEqual((await failing.files()).filter((path) => !watch.synced.has(path)), []);
  });
}
