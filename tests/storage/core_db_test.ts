import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { CoreDb } from "../../src/storage/core_db.ts";
import { SvcError } from "../../src/errors.ts";
import type { WrappedKey } from "../../src/interfaces/plugin.ts";

const SCOPE = { owner: "0x" + "1".repeat(64), namespace: "default" };
const OTHER = { ...SCOPE, namespace: "Default" };
const ACCOUNT = "0x" + "2".repeat(64);

const key = (part: Partial<WrappedKey> = {}): WrappedKey => ({
  ...SCOPE,
  keyId: "0".repeat(32),
  accountId: ACCOUNT,
  generation: 1,
  wrapped: new Uint8Array([1, 2, 3]),
  createdAt: 1000,
  ...part,
});

async function inFile(test: (path: string) => void | Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(`${folder}/core.db`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("the package id is made once and kept", async () => {
  await inFile((path) => {
    using first = new CoreDb(path);
    const id = first.packageId();
    assert.match(id, /^0x[0-9a-f]{64}$/);
    assert.equal(first.packageId(), id);
    using second = new CoreDb(path);
    assert.equal(second.packageId(), id);
  });
});

Deno.test("the file is its owner's alone, in WAL, fully synchronous", {
  ignore: Deno.build.os === "windows",
}, async () => {
  await inFile((path) => {
    using core = new CoreDb(path);
    core.packageId();
    for (const suffix of ["", "-wal"]) {
      assert.equal(Deno.statSync(path + suffix).mode! & 0o777, 0o600);
    }
    using plain = new DatabaseSync(path);
    assert.deepEqual({ ...plain.prepare("pragma journal_mode").get() }, { journal_mode: "wal" });
  });
});

Deno.test("wrapped keys: put, get, delete; the first of an id stays", () => {
  using core = new CoreDb(":memory:");
  const { keys } = core;
  keys.put(key());
  keys.put(key({ wrapped: new Uint8Array([9]) }));
  assert.deepEqual(keys.get("0".repeat(32)), key());
  assert.equal(keys.get("f".repeat(32)), undefined);
  keys.delete("0".repeat(32));
  assert.equal(keys.get("0".repeat(32)), undefined);
});

Deno.test("the newest key is of the scope, the account and its generation", () => {
  using core = new CoreDb(":memory:");
  const { keys } = core;
  keys.put(key({ keyId: "a" }));
  keys.put(key({ keyId: "b", createdAt: 2000 }));
  keys.put(key({ keyId: "c", createdAt: 3000, namespace: "Default" }));
  keys.put(key({ keyId: "d", createdAt: 4000, accountId: "0x3" }));
  keys.put(key({ keyId: "e", createdAt: 5000, owner: "0x4" }));
  assert.equal(keys.newest(ACCOUNT, SCOPE)?.keyId, "b");
  assert.equal(keys.newest(ACCOUNT, OTHER)?.keyId, "c");

  assert.equal(keys.generation(ACCOUNT), 1);
  assert.equal(keys.nextGeneration(ACCOUNT), 2);
  assert.equal(keys.nextGeneration(ACCOUNT), 3);
  assert.equal(keys.generation("0x3"), 1);
  assert.equal(keys.newest(ACCOUNT, SCOPE), undefined);
  keys.put(key({ keyId: "g", generation: 3 }));
  assert.equal(keys.newest(ACCOUNT, SCOPE)?.keyId, "g");
});

Deno.test("tombstones survive a reopening, in their scope only", async () => {
  await inFile((path) => {
    {
      using core = new CoreDb(path);
      core.tombstones.addTombstones(SCOPE, ["a", "b"], 10);
      core.tombstones.addTombstones(SCOPE, ["a"], 20);
      core.tombstones.markApplied(SCOPE, ["b"]);
    }
    using core = new CoreDb(path);
    const { tombstones } = core;
    assert.equal(tombstones.tombstone(SCOPE, "a"), 10);
    assert.ok(tombstones.isDeleted(SCOPE, "a") && tombstones.isDeleted(SCOPE, "b"));
    assert.ok(!tombstones.isDeleted(SCOPE, "c") && !tombstones.isDeleted(OTHER, "a"));
    assert.deepEqual(tombstones.unapplied(), [{ ...SCOPE, id: "a" }]);
    tombstones.markApplied(SCOPE, ["a", "unknown"]);
    assert.deepEqual(tombstones.unapplied(), []);
    assert.ok(tombstones.isDeleted(SCOPE, "a"));
  });
});

Deno.test("a namespace is forgotten up to the latest time", async () => {
  await inFile((path) => {
    {
      using core = new CoreDb(path);
      assert.equal(core.tombstones.forgottenAt(SCOPE), undefined);
      core.tombstones.forgetNamespace(SCOPE, 20);
      core.tombstones.forgetNamespace(SCOPE, 10);
    }
    using core = new CoreDb(path);
    assert.equal(core.tombstones.forgottenAt(SCOPE), 20);
    assert.equal(core.tombstones.forgottenAt(OTHER), undefined);
  });
});

Deno.test("names that differ in bytes are different; lone surrogates are refused", () => {
  using core = new CoreDb(":memory:");
  const scope = (namespace: string) => ({ ...SCOPE, namespace });
  core.tombstones.addTombstones(scope("a\0b"), ["x"], 1);
  assert.ok(core.tombstones.isDeleted(scope("a\0b"), "x"));
  assert.ok(!core.tombstones.isDeleted(scope("a"), "x"));
  assert.ok(!core.tombstones.isDeleted(scope("a\0c"), "x"));
  assert.deepEqual(core.tombstones.unapplied()[0]?.namespace, "a\0b");
  assert.throws(() => core.tombstones.addTombstones(scope("\ud800"), ["x"], 1), SvcError);
});

Deno.test("tables of others in the same file are left alone", async () => {
  await inFile((path) => {
    {
      using other = new DatabaseSync(path);
      other.exec("create table account (id text); insert into account values ('x')");
    }
    using core = new CoreDb(path);
    core.packageId();
    using other = new DatabaseSync(path);
    assert.deepEqual({ ...other.prepare("select id from account").get() }, { id: "x" });
  });
});

Deno.test("a damaged file is named with a way out, and without its content", async () => {
  await inFile(async (path) => {
    await Deno.writeTextFile(path, "peanuts".repeat(1000));
    assert.throws(() => new CoreDb(path), (error) => {
      assert.ok(error instanceof SvcError);
      assert.deepEqual([error.code, error.retryable], ["storage_unavailable", false]);
      assert.equal(error.message, "core.db is damaged: put back a copy of core.db");
      return true;
    });
  });
});

Deno.test("the last use of a key survives a restart, at most five minutes too old", async () => {
  await inFile((path) => {
    const first = new CoreDb(path);
    first.keyUse.touch("aa", 1_000_000);
    first.keyUse.touch("aa", 1_200_000);
    first.keyUse.touch("bb", 1_000_000);
    first.keyUse.touch("bb", 1_300_000);
    assert.equal(first.keyUse.lastUsed("aa"), 1_200_000);
    assert.equal(first.keyUse.lastUsed("cc"), undefined);
    first[Symbol.dispose]();
    using second = new CoreDb(path);
    assert.equal(second.keyUse.lastUsed("aa"), 1_000_000);
    assert.equal(second.keyUse.lastUsed("bb"), 1_300_000);
  });
});

Deno.test("a file that cannot be written does not refuse a key's use", async () => {
  await inFile((path) => {
    const core = new CoreDb(path);
    core[Symbol.dispose]();
    core.keyUse.touch("aa", 5);
    assert.equal(core.keyUse.lastUsed("aa"), 5);
  });
});
