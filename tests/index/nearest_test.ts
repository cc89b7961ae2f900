import fc from "fast-check";
import assert from "node:assert/strict";
import { nearest } from "../../src/index/ranking.ts";

const item = fc.record({
  distance: fc.constantFrom(0, 0.25, 0.5, 0.75, 1, 2),
  createdAt: fc.integer({ min: 1, max: 3 }),
  accepted: fc.boolean(),
});

Deno.test("nearest answers what sorting everything would", () => {
  fc.assert(fc.property(fc.array(item), fc.nat(12), (drawn, limit) => {
    const items = drawn.map((one, i) => ({ ...one, id: String((i * 7919) % 1009) }));
    const expected = items.filter((one) => one.accepted).sort((a, b) =>
      a.distance - b.distance || b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1)
    ).slice(0, limit);
    const distances = Float32Array.from(items, (one) => one.distance);
    const found = nearest(items, distances, limit, (one, distance) => {
      assert.equal(distance, one.distance);
      return one.accepted;
    });
    assert.deepEqual(Array.from(found, (i) => items[i]), expected);
  }));
});

Deno.test("a limit above the number of items, or of zero, is harmless", () => {
  const items = [{ id: "a", createdAt: 1 }];
  const all = (): boolean => true;
  assert.deepEqual([...nearest(items, Float32Array.of(1), Infinity, all)], [0]);
  assert.deepEqual([...nearest(items, Float32Array.of(1), 0, all)], []);
  assert.deepEqual([...nearest(items, Float32Array.of(1), -1, all)], []);
  assert.deepEqual([...nearest([], new Float32Array(), 5, all)], []);
});
