import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { BoundedMap } from "../src/bounded_map.ts";

const filled = (most: number): BoundedMap<number, number> => {
  const map = new BoundedMap<number, number>(most);
  for (let key = 0; key < most; key++) map.set(key, key);
  return map;
};

Deno.test("a tenth of the entries makes way for a new one, the oldest first", () => {
  const map = filled(30);
  strictEqual(map.size, 30);
  map.set(30, 30);
  deepStrictEqual([...map.keys()], Array.from({ length: 28 }, (_, i) => i + 3));
  const small = filled(1);
  deepStrictEqual([...small.set(7, 7).keys()], [7]);
});

Deno.test("an entry that is set again becomes the newest and takes no further room", () => {
  const map = filled(3);
  map.set(0, 10);
  deepStrictEqual([...map], [[1, 1], [2, 2], [0, 10]]);
  map.set(3, 3);
  deepStrictEqual([...map.keys()], [2, 0, 3]);
});

Deno.test("entries are deleted up to the first that is to stay", () => {
  const map = filled(6);
  map.deleteWhile((value) => value < 2 || value > 3);
  deepStrictEqual([...map.keys()], [2, 3, 4, 5]);
});
