import assert from "node:assert/strict";
import { mock } from "node:test";
import { setImmediate } from "node:timers/promises";
import { FlushLog } from "../../../plugins/lancedb/flush_log.ts";
import { commitsUntilOptimized } from "../../../plugins/lancedb/flusher.ts";
import type { LanceTable, Opaque } from "../../../plugins/lancedb/library_api.ts";
import { FailingTable, memory } from "./failing_table.ts";

Deno.test("a large table waits for more small commits before it is written anew", () => {
  for (const rows of [0, 2_000, 73_727]) assert.equal(commitsUntilOptimized(8, rows), 8);
  assert.equal(commitsUntilOptimized(8, 73_728), 9);
  assert.equal(commitsUntilOptimized(8, 131_072), 16);
  for (const rows of [262_144, 10_000_000]) assert.equal(commitsUntilOptimized(8, rows), 32);
  // Whoever asks for more waits for more.
  assert.equal(commitsUntilOptimized(100, 10_000_000), 100);
});

Deno.test("what is written beside a batch goes into the table one quiet time later", async () => {
  await using failing = await FailingTable.create();
  const { add } = failing.methods;
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const added = mock.method(
    failing.methods,
    "add",
    async function (this: LanceTable, rows: Opaque) {
      begun.resolve();
      await held.promise;
      return await add.call(this, rows);
    },
  );
  const { confirm } = FlushLog.prototype;
  const confirmed = Promise.withResolvers<void>();
  mock.method(
    FlushLog.prototype,
    "confirm",
    async function (this: FlushLog, windows: ReadonlyMap<number, number>) {
      await confirm.call(this, windows);
      confirmed.resolve();
    },
  );
  {
    await using store = await failing.open({ rows: 3 });
    await store.upsert([1, 2, 3].map(memory));
    await begun.promise;
    await store.upsert([memory(4)]);
    failing.beQuiet();
    held.resolve();
    await confirmed.promise;
    await setImmediate();
    assert.equal(added.mock.callCount(), 1);
    failing.beQuiet();
  }
  assert.equal(added.mock.callCount(), 2);
});
