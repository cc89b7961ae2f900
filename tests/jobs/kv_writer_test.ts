import assert from "node:assert/strict";
import { KvWriter, type Mutation } from "../../src/jobs/staging.ts";
import { verifies } from "../requirements.ts";
import { fakeKv, FakeTable, type Gate, openGate } from "./fake_kv.ts";
import { poll } from "../within.ts";

/** A table whose commits wait for the test, and what each of them wrote. */
class WatchedTable {
  readonly table = new FakeTable();
  readonly sizes: number[] = [];
  /** Names of keys a commit refuses. */
  readonly refused = new Set<string>();
  #waiting: (() => void)[] = [];
  held = false;

  readonly gate: Gate = async (name, work) => {
    if (this.held) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return await openGate(name, () => {
      const before = new Set(this.table.rows.keys());
      const result = work();
      const added = [...this.table.rows.keys()].filter((key) => !before.has(key));
      if (added.some((key) => [...this.refused].some((name) => key.includes(name)))) {
        for (const key of added) this.table.rows.delete(key);
        throw new TypeError("Value too large");
      }
      this.sizes.push(added.length);
      return result;
    });
  };

  release(): void {
    this.held = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

function set(name: string, bytes = 10): Mutation {
  return { key: ["x", name], value: name, bytes };
}

function writerOn(watched: WatchedTable, wakeUps = false, now = () => 0): KvWriter {
  return new KvWriter(fakeKv(watched.table, watched.gate), { wakeUps, now });
}

Deno.test("what arrives while a commit is on its way shares the next one", async () => {
  const watched = new WatchedTable();
  const writer = writerOn(watched);
  watched.held = true;
  const first = writer.commit([set("first")]);
  await Promise.resolve();
  await Promise.resolve();
  const others = Array.from({ length: 20 }, (_, i) => writer.commit([set(`other ${i}`)]));
  watched.release();
  await Promise.all([first, ...others]);
  assert.deepEqual(watched.sizes, [1, 20]);
});

Deno.test("what is added in one turn is one commit", async () => {
  const watched = new WatchedTable();
  const writer = writerOn(watched);
  await Promise.all(Array.from({ length: 50 }, (_, i) => writer.commit([set(String(i))])));
  assert.deepEqual(watched.sizes, [50]);
});

Deno.test("a group closes at 500 mutations", async () => {
  const watched = new WatchedTable();
  const writer = writerOn(watched);
  const commits = Array.from({ length: 6 }, (_, i) => {
    return writer.commit(Array.from({ length: 150 }, (_, n) => set(`${i} ${n}`)));
  });
  await Promise.all(commits);
  assert.deepEqual(watched.sizes, [450, 450]);
});

Deno.test("a group closes at 400 KB", async () => {
  const watched = new WatchedTable();
  const writer = writerOn(watched);
  await Promise.all(
    Array.from({ length: 9 }, (_, i) => writer.commit([set(String(i), 60_000)])),
  );
  assert.deepEqual(watched.sizes, [6, 3]);
});

Deno.test("a request larger than a group is written whole", async () => {
  const watched = new WatchedTable();
  const writer = writerOn(watched);
  const large = Array.from({ length: 600 }, (_, i) => set(`large ${i}`));
  await Promise.all([writer.commit([set("small")]), writer.commit(large)]);
  assert.deepEqual(watched.sizes, [1, 600]);
});

Deno.test("a bad member does not refuse its neighbours", async () => {
  const watched = new WatchedTable();
  watched.refused.add("bad");
  const writer = writerOn(watched);
  const results = await Promise.allSettled(
    ["a", "bad", "b"].map((name) => writer.commit([set(name), set(`${name} too`)])),
  );
  assert.deepEqual(results.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
  assert.deepEqual(watched.table.keys("x").map((key) => key[1]), ["a", "a too", "b", "b too"]);
  const [, bad] = results;
  assert.equal(bad?.status === "rejected" && bad.reason.code, "storage_unavailable");
});

Deno.test("the group fits what Deno KV takes, and a value it refuses harms nobody", async () => {
  verifies("6-4");
  using kv = await Deno.openKv(":memory:");
  const writer = new KvWriter(kv, { wakeUps: false, now: Date.now });
  const value = new Uint8Array(50_000);
  const good = Array.from({ length: 30 }, (_, i) => {
    return writer.commit([{ key: ["x", i], value, bytes: value.length }]);
  });
  const bad = writer.commit([{ key: ["bad"], value: new Uint8Array(70_000), bytes: 70_000 }]);
  await assert.rejects(bad, { code: "storage_unavailable" });
  await Promise.all(good);
  await writer.idle();
  let count = 0;
  for await (const _ of kv.list({ prefix: ["x"] })) count++;
  assert.equal(count, 30);
});

Deno.test("one wake-up while one is on its way, another after it was delivered", async () => {
  const watched = new WatchedTable();
  let now = 1000;
  const writer = writerOn(watched, true, () => now);
  await writer.commit([set("a")], true);
  await writer.commit([set("b")], true);
  await writer.commit([set("c")]);
  assert.equal(watched.table.messages, 1);
  writer.woken();
  await writer.commit([set("d")]);
  assert.equal(watched.table.messages, 1);
  await writer.commit([set("e")], true);
  assert.equal(watched.table.messages, 2);
  // One that was lost is sent again, also when the clock was set back.
  now += 6000;
  await writer.commit([set("f")], true);
  assert.equal(watched.table.messages, 3);
  now -= 86_400_000;
  await writer.commit([set("g")], true);
  assert.equal(watched.table.messages, 4);
});

Deno.test("a wake-up that could not be written is not waited for", async () => {
  const watched = new WatchedTable();
  watched.refused.add("bad");
  const writer = writerOn(watched, true);
  await assert.rejects(writer.commit([set("bad")], true));
  const sent = watched.table.messages;
  await writer.commit([set("good")], true);
  assert.equal(watched.table.messages, sent + 1);
});

Deno.test("a writer knows whether the last write was refused", async () => {
  const watched = new WatchedTable();
  const writer = writerOn(watched);
  await writer.commit([set("small")]);
  assert.equal(writer.failing, false);
  watched.refused.add("large");
  await assert.rejects(writer.commit([set("large")]), { code: "storage_unavailable" });
  assert.equal(writer.failing, true);
  await writer.commit([set("another")]);
  assert.equal(writer.failing, false);
});

Deno.test("accepts that come together or close after each other are a burst", async () => {
  const together = writerOn(new WatchedTable());
  const accept = (writer: KvWriter, name: number) => writer.commit([set(String(name))], true);
  await Promise.all(Array.from({ length: 3 }, (_, i) => accept(together, i)));
  assert.equal(together.bursting, false);
  await Promise.all(Array.from({ length: 4 }, (_, i) => accept(together, 3 + i)));
  assert.equal(together.bursting, true);

  const inTurn = writerOn(new WatchedTable());
  for (let i = 0; i < 9; i++) await accept(inTurn, i);
  assert.equal(inTurn.bursting, false);
  // What jobs write is no accept.
  await inTurn.commit([set("note")]);
  assert.equal(inTurn.bursting, false);
  // A slow machine may have let the first ones be too long ago.
  for (let i = 9; i < 1_000 && !inTurn.bursting; i++) await accept(inTurn, i);
  assert.equal(inTurn.bursting, true);
  await poll(() => inTurn.bursting, (bursting) => !bursting);
});
