import assert from "node:assert/strict";
import type { Memory } from "../../src/client/results.ts";
import { mergePages, reaches } from "../../web/src/memory/memory_pages.ts";

/** A memory that was made so many seconds after the first. */
const memory = (second: number): Memory => ({
  memory_id: String(second),
  namespace: "default",
  text: "",
  blob_id: "",
  status: "done",
  recallable: true,
  version: 1,
  importance: 0.5,
  created_at: new Date(second * 1000).toISOString(),
  updated_at: new Date(second * 1000).toISOString(),
  size_bytes: 1,
  source: "remember",
});

const ids = (list: readonly Memory[]) => list.map(({ memory_id }) => Number(memory_id));

function merge(newest: number[], before: number[], more = true): number[] {
  return ids(mergePages({ newest: newest.map(memory), more, before: before.map(memory) }));
}

Deno.test("older pages follow the first, each memory once", () => {
  assert.deepEqual(merge([9, 8, 7], []), [9, 8, 7]);
  assert.deepEqual(merge([9, 8, 7], [9, 8, 7, 6, 5]), [9, 8, 7, 6, 5]);
});

Deno.test("what new memories push off the first page stays in the list", () => {
  assert.deepEqual(merge([11, 10, 9], [9, 8, 7, 6, 5]), [11, 10, 9, 8, 7, 6, 5]);
});

Deno.test("what others deleted disappears", () => {
  assert.deepEqual(merge([9, 7, 6], [9, 8, 7, 6, 5]), [9, 7, 6, 5]);
  assert.deepEqual(merge([], [9, 8], false), [], "a namespace that was forgotten");
  assert.deepEqual(merge([9], [9, 8], false), [9]);
});

Deno.test("a first page that shares nothing with what was loaded before does not reach it", () => {
  const before = [9, 8, 7].map(memory);
  assert.equal(reaches([11, 10, 9].map(memory), before), true);
  assert.equal(reaches([12, 11, 10].map(memory), before), false);
});
