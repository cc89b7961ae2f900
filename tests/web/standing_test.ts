import assert from "node:assert/strict";
import { fitWords } from "../../web/src/memory/standing/fit_words.ts";
import { type Dated, groupsOf, isOver } from "../../web/src/memory/standing/groups.ts";
import { keepsAll } from "../../web/src/memory/standing/pairs.ts";
import { isPast, NOW, timeQuery } from "../../web/src/memory/standing/shown_time.ts";
import { dayText } from "../../web/src/text/day_text.ts";

/** A memory that was accepted on a day of 2026. */
const memory = (id: string, day: number, more: Partial<Dated> = {}): Dated => ({
  memory_id: id,
  created_at: new Date(Date.UTC(2026, 0, day)).toISOString(),
  ...more,
});

const grouped = (...memories: Dated[]) =>
  groupsOf(memories).map(({ statements, replaced }) =>
    [statements, replaced].map((list) => list.map(({ memory_id: id }) => id).join("")).join("/")
  );

Deno.test("memories that disagree are one group, the newest first", () => {
  const a = memory("a", 1, { conflicts_with: ["b"] });
  const b = memory("b", 2, { conflicts_with: ["a", "c", "gone"] });
  assert.deepEqual(grouped(memory("x", 9), a, memory("y", 8), b), ["x/", "ba/", "y/"]);
  const c = memory("c", 3, { conflicts_with: ["b"] });
  assert.deepEqual(grouped(a, b, c), ["cba/"]);
  assert.deepEqual(
    grouped(memory("a", 5, { conflicts_with: ["b"], valid_from: "2020-01-01" }), b),
    [
      "ba/",
    ],
  );
});

Deno.test("what was replaced is with what replaced it, where that is shown", () => {
  const a = memory("a", 1, { superseded_by: "b" });
  const b = memory("b", 2, { superseded_by: "c", supersedes: ["a"] });
  const c = memory("c", 3, { supersedes: ["b"] });
  assert.deepEqual(grouped(a, c, b), ["c/ba"]);
  assert.deepEqual(grouped(b, a), ["b/a"]);
  assert.deepEqual(grouped(a), ["a/"]);
  const d = memory("d", 4, { conflicts_with: ["c", "b"] });
  assert.deepEqual(grouped(d, c, b), ["dc/b"], "what is over disagrees with nothing");
  const g = memory("g", 5, { restates: "d" });
  assert.deepEqual(grouped(memory("h", 6, { conflicts_with: ["g"] }), g), ["h/", "g/"]);
  const circle = [memory("e", 1, { superseded_by: "f" }), memory("f", 2, { superseded_by: "e" })];
  assert.equal(
    groupsOf(circle).flatMap((group) => [...group.statements, ...group.replaced]).length,
    2,
  );
});

Deno.test("a memory is over when its time has come or another one took its place", () => {
  const now = Date.UTC(2026, 5, 1);
  assert.equal(isOver(memory("a", 1), now), false);
  assert.equal(isOver(memory("a", 1, { superseded_by: "b" }), now), true);
  assert.equal(isOver(memory("a", 1, { valid_to: "2026-06-01T00:00:00Z" }), now), true);
  assert.equal(isOver(memory("a", 1, { valid_to: "2026-06-02T00:00:00Z" }), now), false);
});

Deno.test("a day is asked for to its end, and a year that is being typed is none", () => {
  assert.deepEqual(timeQuery(NOW), {});
  assert.deepEqual(timeQuery({ withOver: true, day: "0202-03-01" }), { include: "history" });
  assert.equal(isPast({ withOver: false, day: "0202-03-01" }), false);
  assert.deepEqual(timeQuery({ withOver: false, day: "2025-03-01" }), {
    as_of: new Date(2025, 2, 1, 23, 59, 59, 999).toISOString(),
  });
});

Deno.test("all of some memories are kept only where each pair is", () => {
  const kept = new Set(["a b", "b c"]);
  assert.equal(keepsAll(kept, ["b", "a"]), true);
  assert.equal(keepsAll(kept, ["a", "b", "c"]), false);
  assert.equal(keepsAll(new Set(["a b", "b c", "a c"]), ["c", "b", "a"]), true);
});

Deno.test("how sure a hit is, and days, are said in words", () => {
  assert.deepEqual([1, 0.5, 0.49, 0.07, 0.069, 0].map(fitWords), [
    "fits well",
    "fits well",
    "may fit",
    "may fit",
    "hardly fits",
    "hardly fits",
  ]);
  const now = new Date(2026, 10, 25, 12).getTime();
  assert.equal(dayText("2026-03-01T00:00:00Z", now), "March 1, 2026");
  assert.equal(dayText(new Date(2026, 10, 25, 9, 5).toISOString(), now), "9:05 AM today");
  assert.equal(dayText(new Date(2026, 10, 24, 23, 5).toISOString(), now), "November 24, 2026");
});
