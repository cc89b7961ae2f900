import assert from "node:assert/strict";
import { mock } from "node:test";
import { FlushLog } from "../../../plugins/lancedb/flush_log.ts";
import type { LanceTable, Opaque } from "../../../plugins/lancedb/library_api.ts";
import { FailingTable, memory, SCOPE } from "./failing_table.ts";

/** Carries three memories over, which fails, and then a fourth; the store must open again. */
async function carryTwice(failing: FailingTable, mend: () => void): Promise<void> {
  {
    await using store = await failing.open({ rows: 1000 });
    const failure = failing.failure();
    await store.upsert([1, 2, 3].map(memory));
    failing.beQuiet();
    await failure;
    mend();
    await store.upsert([memory(4)]);
    failing.beQuiet();
  }
  await using store = await failing.open();
  assert.equal((await store.scan(SCOPE)).entries.length, 4);
  assert.equal(failing.failures, 1);
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
