import assert from "node:assert/strict";
import { ScopeLock } from "../../src/memory/scope_lock.ts";

Deno.test("work of one scope goes one after the other, that of others beside it", async () => {
  const lock = new ScopeLock();
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  const mine = { owner: "0x1", namespace: "a" };
  const one = lock.hold(mine, async () => {
    order.push("one");
    await first.promise;
    order.push("one ends");
    throw new Error("failed");
  });
  const two = lock.hold(mine, () => Promise.resolve(order.push("two")));
  await lock.hold({ owner: "0x1", namespace: "b" }, () => Promise.resolve(order.push("other")));
  assert.deepEqual(order, ["one", "other"]);
  first.resolve();
  await assert.rejects(one, /failed/);
  await two;
  assert.deepEqual(order, ["one", "other", "one ends", "two"]);
});
