import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { type ActivityEntry, ActivityLog } from "../../src/storage/activity_log.ts";
import { CoreDb } from "../../src/storage/core_db.ts";
import { sealerForTests } from "../plugins/sealer_for_tests.ts";
import { verifies } from "../requirements.ts";

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
class Setup implements Disposable {
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
  reopen(): void {
    this.log[Symbol.dispose]();
    this.log = this.open();
  }

  note(entry: Partial<ActivityEntry>): void {
    this.log.note({ ...ENTRY, ...entry });
  }

  spaces(accountId = "0xa", key?: string): (string | undefined)[] {
    return this.log.page(accountId, { limit: 100, key }).entries.map(({ namespace }) => namespace);
  }

  [Symbol.dispose](): void {
    this.log[Symbol.dispose]();
    this.core[Symbol.dispose]();
  }
}

Deno.test("a key pushes out its own entries only", () => {
  verifies("10.13-5");
  using setup = new Setup();
  setup.note({ key: "k2", namespace: "seen" });
  for (let n = 0; n < 9; n++) setup.note({ namespace: `n${n}` });
  assert.deepEqual(setup.spaces(), ["n8", "n7", "n6", "n5", "seen"]);
});

Deno.test("where there is too much the busiest keys lose their oldest entries", () => {
  verifies("10.13-5");
  using setup = new Setup();
  setup.note({ accountId: "0xb", key: "quiet", namespace: "kept" });
  for (let account = 0; account < 4; account++) {
    for (let n = 0; n < 4; n++) setup.note({ accountId: `0x${account}`, namespace: `n${n}` });
  }
  setup.reopen();
  assert.deepEqual(setup.spaces("0x0"), ["n3", "n2"]);
  assert.deepEqual(setup.spaces("0xb"), ["kept"]);
});

Deno.test("entries are kept for ninety days", () => {
  verifies("10.13-5");
  using setup = new Setup();
  setup.note({ namespace: "old" });
  setup.now += DAY_MS;
  setup.note({ namespace: "newer" });
  setup.now += 90 * DAY_MS;
  setup.reopen();
  assert.deepEqual(setup.spaces(), ["newer"]);
});

Deno.test("an entry that was written is still counted up within its minute", () => {
  verifies("10.13-3");
  using setup = new Setup();
  setup.note({});
  assert.equal(setup.log.page("0xa", { limit: 9 }).entries[0]?.count, 1);
  setup.now += 59_000;
  setup.note({});
  const [entry, ...others] = setup.log.page("0xa", { limit: 9 }).entries;
  assert.deepEqual(others, []);
  assert.equal(entry?.count, 2);
  assert.equal((entry?.lastAt ?? 0) - (entry?.firstAt ?? 0), 59_000);
});

Deno.test("a flood of a key's entries pushes nothing of it out within days", () => {
  verifies("10.13-10");
  using setup = new Setup();
  setup.perDay = 2;
  setup.reopen();
  setup.note({ namespace: "what was read" });
  for (let n = 0; n < 50; n++) {
    setup.now += 60_000;
    setup.note({ namespace: `flood ${n}` });
    if (n === 20) setup.reopen(); // A restart does not begin the day anew.
  }
  const { entries } = setup.log.page("0xa", { limit: 100 });
  assert.deepEqual(
    entries.map(({ namespace = "of the day", count }) => `${namespace}, ${count}`),
    // A restart begins one more entry of the day.
    ["of the day, 29", "of the day, 20", "flood 0, 1", "what was read, 1"],
  );
  setup.now += DAY_MS;
  setup.note({ namespace: "tomorrow" });
  assert.equal(setup.spaces()[0], "tomorrow");
});

Deno.test("what cannot be written refuses no request, and is written later", () => {
  using setup = new Setup();
  const { write } = setup.core.activity;
  setup.core.activity.write = () => {
    throw new Error("full");
  };
  // More than are held: a flood on a full disk takes no more memory, and no request with it.
  for (let n = 0; n < 2001; n++) setup.note({ key: `k${n}`, namespace: `n${n}` });
  assert.deepEqual(setup.failures, ["activity_not_saved"]);
  setup.core.activity.write = write;
  assert.deepEqual(setup.spaces(), ["n2000"]);
});
