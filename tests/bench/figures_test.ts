import assert from "node:assert/strict";
import { type Figure, isMet, numberText, tableText } from "../../bench/figures.ts";
import { median, quantile, shuffled, uniform, unitVector } from "../../bench/statistics.ts";

Deno.test("quantiles are values of the sample, by nearest rank", () => {
  const values = [5, 1, 4, 2, 3];
  assert.equal(median(values), 3);
  assert.equal(quantile(values, 0.95), 5);
  assert.equal(quantile(values, 0), 1);
  assert.equal(median([1, 2]), 1);
  assert.ok(Number.isNaN(median([])));
  assert.deepEqual(values, [5, 1, 4, 2, 3]);
});

Deno.test("a seed gives the same order and vectors again", () => {
  assert.deepEqual(shuffled([1, 2, 3, 4], uniform(7)), shuffled([1, 2, 3, 4], uniform(7)));
  const vector = unitVector(16, uniform(7));
  assert.deepEqual(vector, unitVector(16, uniform(7)));
  assert.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-6);
});

Deno.test("a table says which goals are met", () => {
  const figures: Figure[] = [
    { name: "a / b", value: 0.62, unit: "x", goal: { atLeast: 0.6 } },
    { name: "slow", value: 7.25, unit: "ms", goal: { atMost: 6 } },
    { name: "plain", value: 1234.5, unit: "/s" },
  ];
  assert.deepEqual(figures.map(isMet), [true, false, undefined]);
  assert.deepEqual([0.123, 12.345, 123.4].map(numberText), ["0.12", "12.3", "123"]);
  assert.equal(
    tableText("title", figures),
    [
      "title",
      "  a / b      0.62 x        met    (goal >= 0.6)",
      "  slow       7.25 ms       missed (goal <= 6.00)",
      "  plain      1235 /s",
      "",
    ].join("\n"),
  );
});
