import assert from "node:assert/strict";
import { GroupCommit } from "../../plugins/sqlite/group_commit.ts";

/** A database of numbers that refuses negative ones. */
function numbers(begins: () => void = () => {}) {
  let pending: number[] = [];
  const kept: number[] = [];
  const group = new GroupCommit({
    begin: begins,
    commit: () => kept.push(...pending.splice(0)),
    rollback: () => {
      pending = [];
    },
  }, 4);
  const add = (n: number, signal?: AbortSignal) =>
    group.add(() => {
      if (n < 0) throw new RangeError(`negative ${n}`);
      pending.push(n);
      return n * 2;
    }, signal);
  return { kept, group, add };
}

Deno.test("writes of one turn share a commit, in order, up to the batch size", async () => {
  const { kept, group, add } = numbers();
  assert.deepEqual(await Promise.all([1, 2, 3, 4, 5].map((n) => add(n))), [2, 4, 6, 8, 10]);
  assert.deepEqual(kept, [1, 2, 3, 4, 5]);
  assert.equal(group.commits, 2);
});

Deno.test("a bad item refuses only itself", async () => {
  const { kept, add } = numbers();
  const results = await Promise.allSettled([1, -2, 3].map((n) => add(n)));
  assert.deepEqual(results.map((r) => r.status), ["fulfilled", "rejected", "fulfilled"]);
  assert.deepEqual(kept, [1, 3]);
});

Deno.test("a database that cannot begin is asked once for a batch", async () => {
  let asked = 0;
  const { kept, add } = numbers(() => {
    asked++;
    throw new Error("locked");
  });
  const results = await Promise.allSettled([1, 2, 3].map((n) => add(n)));
  assert.ok(results.every((r) => r.status === "rejected" && r.reason.message === "locked"));
  assert.deepEqual([kept, asked], [[], 1]);
});

Deno.test("a database that fails between single items is asked no more", async () => {
  let asked = 0;
  const { kept, add } = numbers(() => {
    if (++asked === 3) throw new Error("locked");
  });
  const results = await Promise.allSettled([1, -2, 3, 4].map((n) => add(n)));
  assert.deepEqual(results.map((r) => r.status), [
    "fulfilled",
    "rejected",
    "rejected",
    "rejected",
  ]);
  assert.deepEqual([kept, asked], [[1], 3]);
});

Deno.test("an item aborted before its turn is left out", async () => {
  const { kept, add, group } = numbers();
  const controller = new AbortController();
  const aborted = add(1, controller.signal);
  const other = add(2);
  controller.abort(new Error("gone"));
  await assert.rejects(aborted, /gone/);
  await other;
  await group.idle();
  assert.deepEqual(kept, [2]);
});

Deno.test("writes that take long are spread over several turns, in order", async () => {
  const { kept, group } = numbers();
  const slow = (n: number) =>
    group.add(() => {
      for (const until = performance.now() + 10; performance.now() < until;);
      return n;
    });
  assert.deepEqual(await Promise.all([1, 2, 3].map(slow)), [1, 2, 3]);
  assert.equal(group.commits, 3);
  assert.deepEqual(kept, []);
});
