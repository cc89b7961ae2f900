import assert from "node:assert/strict";
import { KeyLock } from "../src/key_lock.ts";

Deno.test("work under one key goes one after the other, that of others beside it", async () => {
  const lock = new KeyLock();
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  const one = lock.hold("a", async () => {
    order.push("one");
    await first.promise;
    order.push("one ends");
    throw new Error("failed");
  });
  const two = lock.hold("a", () => Promise.resolve(order.push("two")));
  await lock.hold("b", () => Promise.resolve(order.push("other")));
  assert.deepEqual(order, ["one", "other"]);
  first.resolve();
  await assert.rejects(one, /failed/);
  await two;
  assert.deepEqual(order, ["one", "other", "one ends", "two"]);
});
