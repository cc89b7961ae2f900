import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { type ActivityEntry, ActivityLog } from "../../src/storage/activity_log.ts";
import { CoreDb } from "../../src/storage/core_db.ts";
import { sealerForTests } from "../plugins/sealer_for_tests.ts";
import { verifies } from "../requirements.ts";
import { poll } from "../within.ts";

const DAY_MS = 86_400_000;
const ENTRY: ActivityEntry = {
  accountId: "0xa",
  key: "k1",
  action: "POST /api/recall",
  via: "http",
  from: "internet",
  outcome: "ok",
};

/** A log of few entries, its clock, and a way to have it prune. */
class Setup implements AsyncDisposable {
  now = Date.parse("2026-03-01T09:00:00Z");
  readonly core = new CoreDb(":memory:");
  readonly failures: string[] = [];
  readonly bounds = { perHolder: 4, total: 10 };
  perDay: number | undefined;
  log = this.open();

  open(): ActivityLog {
    return new ActivityLog({
      table: this.core.activity,
      key: { hmac: () => (data) => hash("sha256", data, "buffer"), sealer: sealerForTests },
      now: () => this.now,
      logger: { warn: (event) => this.failures.push(event) },
      bounds: this.bounds,
      ...(this.perDay === undefined ? {} : { perDay: this.perDay }),
    });
  }

  /** Ends the log, which writes and prunes, and opens it anew. */
  async reopen(): Promise<void> {
    await this.log[Symbol.asyncDispose]();
    this.log = this.open();
  }

  note(entry: Partial<ActivityEntry>): void {
    this.log.note({ ...ENTRY, ...entry });
  }

  async spaces(accountId = "0xa", key?: string): Promise<(string | undefined)[]> {
    const { entries } = await this.log.page(accountId, { limit: 100, key });
    return entries.map(({ namespace }) => namespace);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.log[Symbol.asyncDispose]();
    this.core[Symbol.dispose]();
  }
}

Deno.test("a key pushes out its own entries only", async () => {
  verifies("10.13-5");
  await using setup = new Setup();
  setup.note({ key: "k2", namespace: "seen" });
  for (let n = 0; n < 9; n++) setup.note({ namespace: `n${n}` });
  assert.deepEqual(await setup.spaces(), ["n8", "n7", "n6", "n5", "seen"]);
});

Deno.test("where there is too much the busiest keys lose their oldest entries", async () => {
  verifies("10.13-5");
  await using setup = new Setup();
  setup.note({ accountId: "0xb", key: "quiet", namespace: "kept" });
  for (let account = 0; account < 4; account++) {
    for (let n = 0; n < 4; n++) setup.note({ accountId: `0x${account}`, namespace: `n${n}` });
  }
  await setup.reopen();
  assert.deepEqual(await setup.spaces("0x0"), ["n3", "n2"]);
  assert.deepEqual(await setup.spaces("0xb"), ["kept"]);
});

Deno.test("entries are kept for ninety days", async () => {
  verifies("10.13-5");
  await using setup = new Setup();
  setup.note({ namespace: "old" });
  setup.now += DAY_MS;
  setup.note({ namespace: "newer" });
  setup.now += 90 * DAY_MS;
  await setup.reopen();
  assert.deepEqual(await setup.spaces(), ["newer"]);
});

Deno.test("an entry that was written is still counted up within its minute", async () => {
  verifies("10.13-3");
  await using setup = new Setup();
  setup.note({});
  assert.equal((await setup.log.page("0xa", { limit: 9 })).entries[0]?.count, 1);
  setup.now += 59_000;
  setup.note({});
  const [entry, ...others] = (await setup.log.page("0xa", { limit: 9 })).entries;
  assert.deepEqual(others, []);
  assert.equal(entry?.count, 2);
  assert.equal((entry?.lastAt ?? 0) - (entry?.firstAt ?? 0), 59_000);
});

Deno.test("a flood of a key's entries pushes nothing of it out within days", async () => {
  verifies("10.13-10");
  await using setup = new Setup();
  setup.perDay = 2;
  await setup.reopen();
  setup.note({ namespace: "what was read" });
  for (let n = 0; n < 50; n++) {
    setup.now += 60_000;
    setup.note({ namespace: `flood ${n}` });
    if (n === 20) await setup.reopen(); // A restart does not begin the day anew.
  }
  const { entries } = await setup.log.page("0xa", { limit: 100 });
  assert.deepEqual(
    entries.map(({ namespace = "of the day", count }) => `${namespace}, ${count}`),
    // A restart begins one more entry of the day.
    ["of the day, 29", "of the day, 20", "flood 0, 1", "what was read, 1"],
  );
  setup.now += DAY_MS;
  setup.note({ namespace: "tomorrow" });
  assert.equal((await setup.spaces())[0], "tomorrow");
});

Deno.test("what cannot be written refuses no request, and is written later", async () => {
  await using setup = new Setup();
  const { write } = setup.core.activity;
  setup.core.activity.write = () => {
    throw new Error("full");
  };
  // More than are held: a flood on a full disk takes no more memory, and no request with it.
  for (let n = 0; n < 2001; n++) setup.note({ key: `k${n}`, namespace: `n${n}` });
  await poll(() => setup.failures, (failures) => failures.length > 0);
  assert.deepEqual(setup.failures, ["activity_not_saved"]);
  setup.core.activity.write = write;
  assert.deepEqual(await setup.spaces(), ["n2000"]);
});

/** Logs of two relayers, whose rows are answered as those of a database: later. */
async function two(setup: Setup) {
  const { activity } = setup.core;
  const later = {
    write: (...given: Parameters<typeof activity.write>) =>
      Promise.resolve().then(() => activity.write(...given)),
    countOn: (...given: Parameters<typeof activity.countOn>) =>
      Promise.resolve().then(() => activity.countOn(...given)),
    page: (...given: Parameters<typeof activity.page>) =>
      Promise.resolve().then(() => activity.page(...given)),
    prune: () => Promise.resolve(),
  };
  const key = {
    hmac: () => (data: string) => hash("sha256", data, "buffer"),
    sealer: sealerForTests,
  };
  const open = () =>
    new ActivityLog({
      table: later,
      key,
      now: () => setup.now,
      logger: { warn: (event) => setup.failures.push(event) },
      perDay: 3,
    });
  const logs = [open(), open()] as const;
  await Promise.resolve();
  return {
    logs,
    async [Symbol.asyncDispose]() {
      for (const log of logs) await log[Symbol.asyncDispose]();
    },
  };
}

Deno.test("equal requests of a minute are one entry, whichever relayers answered them", async () => {
  verifies("10.13-3");
  await using setup = new Setup();
  await using relayers = await two(setup);
  const [one, other] = relayers.logs;
  for (const log of [one, one, other, one]) {
    log.note(ENTRY, "0x1");
    setup.now += 1_000;
    await log.settle();
  }
  const { entries } = await other.page("0xa", { limit: 9 });
  assert.deepEqual(entries.map(({ count, firstAt, lastAt }) => [count, lastAt - firstAt]), [
    [4, 3_000],
  ]);
});

Deno.test("a day's entries of a key are counted over relayers when its owner comes back", async () => {
  verifies("10.13-10");
  await using setup = new Setup();
  await using relayers = await two(setup);
  const [one, other] = relayers.logs;
  for (let n = 0; n < 20; n++) {
    const log = n % 2 === 0 ? one : other;
    log.enter("0x1");
    await log.page("0xa", { limit: 1 }); // As any request, it asks the database before it is noted.
    log.note({ ...ENTRY, namespace: `flood ${n}` }, "0x1");
    setup.now += 60_000;
    await log.settle();
  }
  const { entries } = await one.page("0xa", { limit: 100 });
  const spaces = entries.map(({ namespace = "of the day", count }) => `${namespace}, ${count}`);
  // Each relayer has one that it took for its first.
  assert.deepEqual(spaces.filter((space) => space.startsWith("flood")).length <= 4, true);
  assert.equal(entries.reduce((sum, { count }) => sum + count, 0), 20);
});
