import assert from "node:assert/strict";
import { type Results, tableOf } from "../../eval/table.ts";

const resultsOf = (hybrid: readonly number[]): Results => ({
  model: "m",
  sets: { English: { hybrid, meaning: [1, 1, 1, 1], words: [9, 9, 9, 9], letters: [1, 6, 1, 6] } },
});

Deno.test("the table has each set by each leg, with intervals", () => {
  const [head, hybrid, meaning, words, letters, ...others] = tableOf(resultsOf([1, 1, 3, 101]));
  assert.match(head!, /^set +asked leg +hit@1 +hit@5 +recall@10$/);
  assert.match(hybrid!, /^English +4 {2}hybrid +50\.0 \(0\.0 to 100\.0\) +75\.0 .* +75\.0 /);
  assert.match(meaning!, /meaning +100\.0 \(100\.0 to 100\.0\)/);
  assert.match(words!, /words +0\.0 \(0\.0 to 0\.0\) .* 100\.0 \(100\.0 to 100\.0\)$/);
  assert.match(letters!, /letters +50\.0 /);
  assert.deepEqual(others, []);
});

Deno.test("against another run gains are told, and which are more than chance", () => {
  const many = (rank: number) => Array<number>(40).fill(rank);
  const before = { model: "a", sets: { x: { ...resultsOf([]).sets.English!, hybrid: many(7) } } };
  const after = { model: "b", sets: { x: { ...resultsOf([]).sets.English!, hybrid: many(2) } } };
  const [, hybrid, meaning] = tableOf(after, before);
  assert.match(hybrid!, / 0\.0 \(0\.0 to 0\.0\) +100\.0 \(100\.0 to 100\.0\) \* +0\.0 /);
  assert.ok(!meaning!.includes("*"));
  // Sets that the other run does not have are left out.
  assert.equal(
    tableOf({ ...after, sets: { ...after.sets, ...resultsOf([1]).sets } }, before).length,
    5,
  );
  assert.throws(() => tableOf(resultsOf([1]), resultsOf([1, 1])), /other questions/);
});
