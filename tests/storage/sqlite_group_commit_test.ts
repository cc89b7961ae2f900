import assert from "node:assert/strict";
import { mock } from "node:test";
import { GroupCommit } from "../../src/storage/sqlite/group_commit.ts";
import { turns } from "../within.ts";

/** A database of numbers that refuses negative ones. */
function numbers(begins: () => void = () => {}, sync: () => Promise<void> = async () => {}) {
  let pending: number[] = [];
  const kept: number[] = [];
  let commits = 0;
  const group = new GroupCommit({
    begin: begins,
    commit: () => {
      commits++;
      kept.push(...pending.splice(0));
    },
    rollback: () => {
      pending = [];
    },
    sync,
  }, 4);
  const add = (n: number, signal?: AbortSignal) =>
    group.add(() => {
      if (n < 0) throw new RangeError(`negative ${n}`);
      pending.push(n);
      return n * 2;
    }, signal);
  return { kept, group, add, commits: () => commits };
}

Deno.test("writes of one turn share a commit, in order, up to the batch size", async () => {
  const { kept, add, commits } = numbers();
  // A transaction ends after some milliseconds, and a busy machine may take them.
  const clock = mock.method(performance, "now", () => 0);
  assert.deepEqual(await Promise.all([1, 2, 3, 4, 5].map((n) => add(n))), [2, 4, 6, 8, 10]);
  clock.mock.restore();
  assert.deepEqual(kept, [1, 2, 3, 4, 5]);
  assert.equal(commits(), 2);
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
  const { kept, group, commits } = numbers();
  const slow = (n: number) =>
    group.add(() => {
      for (const until = performance.now() + 10; performance.now() < until;);
      return n;
    });
  assert.deepEqual(await Promise.all([1, 2, 3].map(slow)), [1, 2, 3]);
  assert.equal(commits(), 3);
  assert.deepEqual(kept, []);
});

Deno.test("nothing is answered before it is on the disk, which nobody else waits for", async () => {
  const syncs: PromiseWithResolvers<void>[] = [];
  const { kept, add, group, commits } = numbers(undefined, () => {
    const sync = Promise.withResolvers<void>();
    syncs.push(sync);
    return sync.promise;
  });
  const answered: number[] = [];
  const writes = [add(1).then((n) => answered.push(n))];
  await turns(5);
  // While the disk is busy others are committed; they share the next fsync.
  writes.push(add(2).then((n) => answered.push(n)));
  await turns(5);
  writes.push(add(3).then((n) => answered.push(n)));
  await turns(5);
  assert.deepEqual([kept, answered, commits(), syncs.length], [[1, 2, 3], [], 3, 1]);
  let idle = false;
  const ended = group.idle().then(() => idle = true);
  syncs[0]!.resolve();
  await turns(5);
  assert.deepEqual([answered, syncs.length, idle], [[2], 2, false]);
  syncs[1]!.resolve();
  await Promise.all([...writes, ended]);
  assert.deepEqual([answered, syncs.length], [[2, 4, 6], 2]);
});

Deno.test("after an fsync that failed nothing is written any more", async () => {
  let syncs = 0;
  const { add } = numbers(undefined, () => {
    syncs++;
    return Promise.reject(new Error("no space left"));
  });
  await assert.rejects(add(1), /no space left/);
  await assert.rejects(add(2), /no space left/);
  assert.equal(syncs, 1);
});

Deno.test("writes wait while the log is made empty", async () => {
  const free = Promise.withResolvers<void>();
  let hold: Promise<void> | undefined = free.promise;
  let begins = 0;
  const group = new GroupCommit({
    begin: () => begins++,
    commit: () => {},
    rollback: () => {},
    sync: async () => {},
    get hold() {
      return hold;
    },
  });
  const write = group.add(() => 1);
  await turns(5);
  assert.equal(begins, 0);
  hold = undefined;
  free.resolve();
  assert.deepEqual([await write, begins], [1, 1]);
});
