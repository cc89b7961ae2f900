import assert from "node:assert/strict";
import { measureWrites } from "../../eval/writes.ts";

Deno.test("what is written five times is seen little more than once, and no fact is lost", async () => {
  const { remembered, analyzed, boot } = await measureWrites("tuning");
  for (const { writes, facts, seen, lost, wrong, unsaid, first } of [remembered, analyzed]) {
    assert.deepEqual([writes, facts, unsaid], [600, 120, 0]);
    assert.deepEqual([lost, wrong], [[], []]);
    assert.ok(seen <= 195, `${seen} are seen`);
    assert.ok(first >= 110, `${first} are found first`);
  }
  assert.deepEqual(boot, { seen: 6, right: 6, files: 6 });
});
