import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { Batcher, MAX_WAITS, quiltLimits } from "../../../../plugins/sui/walrus/upload/batcher.ts";
import type { Item } from "../../../../plugins/sui/walrus/upload/upload.ts";

const WAIT = 5000;
let seq = 0;

function item(createdAt: number, changes: Partial<Item> = {}): Item {
  return {
    seq: ++seq,
    owner: "0x1",
    namespace: "a",
    standalone: false,
    size: 100,
    createdAt,
    ...changes,
  };
}

Deno.test("a lonely item waits its time and no longer", () => {
  const batcher = new Batcher(WAIT);
  batcher.add(item(1000));
  strictEqual(batcher.dueAt(1000), 1000 + WAIT);
  deepStrictEqual(batcher.take(5999), []);
  deepStrictEqual(batcher.take(6000).map(({ items }) => items.length), [1]);
  strictEqual(batcher.count, 0);
  strictEqual(batcher.dueAt(6000), Infinity);
});

Deno.test("600 items within 30 s of one scope become two quilts at most", () => {
  const batcher = new Batcher(WAIT);
  const sizes: number[] = [];
  for (let n = 0; n < 600; n++) {
    const now = n * 50;
    batcher.add(item(now));
    if (batcher.dueAt(now) <= now) {
      sizes.push(...batcher.take(now).map(({ items }) => items.length));
    }
  }
  const end = batcher.dueAt(30_000);
  strictEqual(end <= MAX_WAITS * WAIT + WAIT, true);
  sizes.push(...batcher.take(end).map(({ items }) => items.length));
  strictEqual(sizes.reduce((sum, size) => sum + size, 0), 600);
  strictEqual(sizes.length <= 2, true, sizes.join());
});

Deno.test("what is due takes along scopes that have waited for half of their time", () => {
  const batcher = new Batcher(WAIT);
  batcher.add(item(0, { namespace: "a" }));
  batcher.add(item(2000, { namespace: "b" }));
  batcher.add(item(4000, { namespace: "c" }));
  deepStrictEqual(batcher.take(5000).map(({ namespace }) => namespace), ["a", "b"]);
  strictEqual(batcher.count, 1);
  deepStrictEqual(batcher.take(5000, { all: true }).map(({ namespace }) => namespace), ["c"]);
});

Deno.test("quilts hold one owner and namespace, so many patches and so many bytes", () => {
  const batcher = new Batcher(WAIT);
  for (let n = 0; n < 7; n++) batcher.add(item(0));
  batcher.add(item(0, { namespace: "b" }));
  batcher.add(item(0, { owner: "0x2" }));
  batcher.add(item(0, { namespace: "large", size: 5000 }));
  batcher.add(item(0, { namespace: "alone", standalone: true }));
  strictEqual(batcher.dueAt(0), 0);
  const batches = batcher.take(0, { maxPatches: 3, maxBytes: 1000, all: true });
  deepStrictEqual(
    batches.map(({ owner, namespace, quilt, items }) => [owner, namespace, quilt, items.length]),
    [
      ["0x1", "alone", false, 1],
      ["0x1", "a", true, 3],
      ["0x1", "a", true, 3],
      ["0x1", "a", true, 1],
      ["0x1", "b", true, 1],
      ["0x2", "a", true, 1],
      ["0x1", "large", false, 1],
    ],
  );
});

Deno.test("a full quilt does not wait, and what is left over does", () => {
  const batcher = new Batcher(WAIT);
  for (let n = 0; n < 7; n++) batcher.add(item(0));
  deepStrictEqual(batcher.take(1, { maxPatches: 3 }).map(({ items }) => items.length), [3, 3]);
  strictEqual(batcher.count, 1);
});

Deno.test("limits of a quilt follow the number of shards", () => {
  deepStrictEqual(quiltLimits(1000), { maxPatches: 665, maxBytes: 4_194_304 });
  deepStrictEqual(quiltLimits(10), { maxPatches: 5, maxBytes: 458_738 });
});
