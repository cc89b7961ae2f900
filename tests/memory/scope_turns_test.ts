import assert from "node:assert/strict";
import { ScopeTurns } from "../../src/memory/scope_turns.ts";

Deno.test("work of one scope goes one after the other, that of others beside it", async () => {
  const turns = new ScopeTurns();
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  const mine = { owner: "0x1", namespace: "a" };
  const one = turns.take(mine, async () => {
    order.push("one");
    await first.promise;
    order.push("one ends");
    throw new Error("failed");
  });
  const two = turns.take(mine, () => Promise.resolve(order.push("two")));
  await turns.take({ owner: "0x1", namespace: "b" }, () => Promise.resolve(order.push("other")));
  assert.deepEqual(order, ["one", "other"]);
  first.resolve();
  await assert.rejects(one, /failed/);
  await two;
  assert.deepEqual(order, ["one", "other", "one ends", "two"]);
});
