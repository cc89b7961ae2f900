import assert from "node:assert/strict";
import { mock } from "node:test";
import { silentLogger } from "../../src/log.ts";
import { Erasure } from "../../src/memory/remove/erasure.ts";
import { SvcError } from "../../src/errors.ts";
import { verifies } from "../requirements.ts";
import { poll, turns } from "../within.ts";

type Deleted = { owner: string; namespace: string; id: string };

const memory = (id: string): Deleted => ({ owner: "o", namespace: "n", id });

/** A store whose passes are counted, and may fail or wait. */
function setup({ leavesDeleted = false, needsCredential = false } = {}) {
  const left = new Map<string, Deleted>();
  const state = { passes: 0, fails: false, gate: Promise.resolve(), jobsPasses: 0 };
  const erasure = new Erasure({
    vectorStore: {
      leavesDeleted,
      scrub: async () => {
        state.passes++;
        await state.gate;
        if (state.fails) throw new SvcError("storage_unavailable");
      },
    },
    blobStore: {},
    savedWords: { leavesDeleted: false },
    scrubJobs: async () => {
      await state.gate;
      if (state.fails) throw new SvcError("storage_unavailable");
      state.jobsPasses++;
    },
    cipher: { needsCredential },
    tombstones: {
      unerased: () => [...left.values()],
      get unerasedCount() {
        return left.size;
      },
      markErased: (memories) => memories.forEach(({ id }) => left.delete(id)),
    },
    logger: silentLogger,
  });
  const remove = (id: string) => left.set(id, memory(id));
  return { left, state, erasure, remove };
}

Deno.test("one pass is for all deletions before it, and the next keeps a distance", async () => {
  verifies("10.14-6");
  const { left, state, erasure, remove } = setup();
  await using _erasure = erasure;
  await erasure.hurry(1000);
  assert.equal(state.passes, 0, "there was nothing to erase");
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  for (const id of ["a", "b", "c"]) remove(id);
  const first = erasure.hurry(1000);
  // Deleted while the pass goes on: it may have begun before.
  remove("late");
  await erasure.hurry(1000);
  gate.resolve();
  await first;
  assert.deepEqual([...left.keys()], ["late"]);
  remove("d");
  const started = performance.now();
  await erasure.hurry(1000);
  assert.ok(performance.now() - started < 500, "nobody waits for a pass that may not begin");
  assert.equal(state.passes, 1);
  await poll(() => left.size, (size) => size === 0);
  assert.equal(state.passes, 2);
});

Deno.test("a pass that failed marks nothing, and comes again", async () => {
  const { left, state, erasure, remove } = setup();
  await using _erasure = erasure;
  state.fails = true;
  remove("a");
  await erasure.hurry(1000);
  assert.deepEqual([...left.keys()], ["a"]);
  state.fails = false;
  await poll(() => left.size, (size) => size === 0);
  assert.equal(state.passes, 2);
});

Deno.test("where a store keeps what was deleted, nothing is called erased", async () => {
  verifies("10.14-1");
  const { left, state, erasure, remove } = setup({ leavesDeleted: true });
  await using _erasure = erasure;
  remove("a");
  await erasure.hurry(1000);
  await turns();
  assert.deepEqual([...left.keys()], ["a"]);
  assert.equal(state.passes, 1, "what is left brings no pass by itself");
});

Deno.test("what is deleted by itself is erased soon", async () => {
  verifies("10.14-6");
  const { left, erasure, remove } = setup();
  await using _erasure = erasure;
  erasure.start();
  remove("expired");
  await poll(() => left.size, (size) => size === 0);
});

Deno.test("what an earlier process left is taken up, and a stop waits for the pass", async () => {
  const { left, state, erasure, remove } = setup();
  remove("a");
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  erasure.start();
  const ended = erasure[Symbol.asyncDispose]();
  gate.resolve();
  await ended;
  assert.equal(left.size, 0);
  remove("b");
  await erasure.hurry(1000);
  assert.equal(state.passes, 1, "it has ended");
});

Deno.test("where memories need a credential, texts of before are taken out a minute after a start", async () => {
  for (const needsCredential of [true, false]) {
    mock.timers.enable({ apis: ["setInterval"] });
    mock.method(performance, "now", () => 0);
    try {
      const { state, erasure } = setup({ needsCredential });
      await using _erasure = erasure;
      erasure.start();
      const minute = async () => {
        mock.timers.tick(60_000);
        await turns();
        return state.jobsPasses;
      };
      state.fails = true;
      assert.equal(await minute(), 0);
      state.fails = false;
      assert.equal(await minute(), needsCredential ? 1 : 0, "what failed is tried again");
      assert.equal(await minute(), needsCredential ? 1 : 0, "they are out already");
    } finally {
      mock.timers.reset();
      mock.restoreAll();
    }
  }
});
