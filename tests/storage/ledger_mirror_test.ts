import assert from "node:assert/strict";
import { memoryState } from "../../plugins/memory/state_store.ts";
import { SvcError } from "../../src/errors.ts";
import type { Ledger } from "../../src/interfaces/mod.ts";
import { RelayerKey } from "../../src/sealing/relayer_key.ts";
import { CoreDb } from "../../src/storage/core_db.ts";
import { COMMON } from "../../src/storage/ledger_mirror.ts";

const OWNER = `0x${"a".repeat(64)}`;
const SCOPE = { owner: OWNER, namespace: "a\0ß" };
const SEALER = new RelayerKey(new Uint8Array(32).fill(7)).sealer("ledger");

/** A core.db in RAM that follows a ledger. */
async function mirrored(ledger: Ledger) {
  const core = new CoreDb(":memory:");
  const mirror = core.mirror(ledger);
  mirror.sealWith(SEALER);
  await mirror.load(COMMON);
  return { core, mirror, [Symbol.dispose]: () => core[Symbol.dispose]() };
}

const grantOf = (byte: number) => ({
  id: new Uint8Array(16).fill(byte),
  publicKey: byte.toString(16).padStart(64, "0"),
  accountId: "0x1",
  generation: 1,
  secretHash: new Uint8Array(32).fill(byte),
  codeHash: undefined,
  sealed: new Uint8Array([1, 2, 3]),
  expiresAt: 1_000,
});

Deno.test("rows of every kind come back as they were, also to another relayer", async () => {
  await using place = memoryState();
  await using one = place.open();
  await using other = place.open();
  using first = await mirrored(one.ledger);
  await one.owners.take(OWNER, true);
  await first.mirror.load(OWNER);
  const { tombstones, tombstoneBlobs, versions, policies, keys, copies } = first.core;
  tombstones.addTombstones(SCOPE, ["1", "2"], 10);
  tombstones.markApplied(SCOPE, ["1"]);
  tombstones.noteKept(SCOPE, "1", 99);
  tombstones.forgetNamespace(SCOPE, 5);
  tombstoneBlobs.add("0xc", SCOPE, ["1", ""], 10);
  tombstoneBlobs.sent(SCOPE, "blob");
  versions.reserve(SCOPE, "3", 1, "job", 7);
  policies.setConflicts(SCOPE, "auto");
  const key = { ...SCOPE, keyId: "k", accountId: "0xc", generation: 1, createdAt: 3 };
  keys.put({ ...key, wrapped: new Uint8Array([9]) });
  copies.note(OWNER, "3", 8);
  copies.flush();
  await first.mirror.flush(OWNER);
  await one.owners.release(OWNER);

  using second = await mirrored(other.ledger);
  await other.owners.take(OWNER, true);
  assert.equal(second.core.tombstones.isDeleted(SCOPE, "1"), false);
  await second.mirror.load(OWNER);
  const there = second.core;
  assert.deepEqual(
    there.tombstones.deletions(SCOPE, ["1", "2"]),
    tombstones.deletions(SCOPE, ["1", "2"]),
  );
  assert.deepEqual(there.tombstones.unapplied().map(({ id }) => id), ["2"]);
  assert.equal(there.tombstones.forgottenAt(SCOPE), 5);
  assert.deepEqual(there.tombstoneBlobs.unsent(9).map(({ id }) => id).sort(), ["", "1"]);
  assert.ok(there.tombstoneBlobs.isTombstone(SCOPE, "blob"));
  assert.equal(there.versions.latest(SCOPE, "3"), 2);
  assert.equal(there.policies.conflictsIn(SCOPE), "auto");
  assert.deepEqual(there.keys.get("k")?.wrapped, new Uint8Array([9]));
  assert.deepEqual(there.copies.of(OWNER, "3"), { count: 1, lastAt: 8 });
  there.policies.setConflicts(SCOPE, undefined);
  await second.mirror.flush(OWNER);
  await second.mirror.load(OWNER);
  assert.equal(there.policies.conflictsIn(SCOPE), undefined);
  second.mirror.drop(OWNER);
  assert.equal(there.tombstones.isDeleted(SCOPE, "1"), false);
  const { rows } = await other.ledger.read(OWNER);
  const bytes = new TextDecoder("latin1").decode(
    new Uint8Array(rows.flatMap(({ value }) => [...value])),
  );
  assert.doesNotMatch(bytes, /blob|tombstone/);
});

Deno.test("two relayers change the common part at once, and both changes hold", async () => {
  await using place = memoryState();
  await using one = place.open();
  await using other = place.open();
  using first = await mirrored(one.ledger);
  using second = await mirrored(other.ledger);
  first.core.grants.put(grantOf(1));
  await first.mirror.flush(COMMON);
  await second.mirror.refresh();
  // While the second reads what the first wrote, it ends a grant itself.
  first.core.grants.put(grantOf(2));
  await first.mirror.flush(COMMON);
  const reading = second.mirror.refresh();
  second.core.grants.delete(grantOf(1).id);
  second.core.grants.put(grantOf(3));
  await reading;
  await Promise.all([second.mirror.flush(COMMON), second.mirror.flush(COMMON)]);
  await first.mirror.refresh();
  for (const { core } of [first, second]) {
    const has = [1, 2, 3].map((byte) => core.grants.get(grantOf(byte).id) !== undefined);
    assert.deepEqual(has, [false, true, true]);
  }
});

Deno.test("what the ledger refuses is told to everybody who waits for it", async () => {
  await using place = memoryState();
  await using one = place.open();
  const { ledger } = one;
  const answers = Promise.withResolvers<number | undefined>();
  using first = await mirrored({ ...ledger, write: () => answers.promise });
  await one.owners.take(OWNER, true);
  await first.mirror.load(OWNER);
  first.core.tombstones.addTombstones(SCOPE, ["1"], 10);
  const both = [first.mirror.flush(OWNER), first.mirror.flush(OWNER)];
  answers.reject(new SvcError("storage_unavailable"));
  for (const flush of both) await assert.rejects(flush, { code: "storage_unavailable" });
  await assert.rejects(first.mirror.flush(OWNER), { code: "storage_unavailable" });
  await first.mirror.load(OWNER);
  assert.equal(first.core.tombstones.isDeleted(SCOPE, "1"), false);
  await first.mirror.flush(OWNER);
});

Deno.test("a row is noted once, however often it changes before it is written", async () => {
  await using place = memoryState();
  await using one = place.open();
  using first = await mirrored(one.ledger);
  await one.owners.take(OWNER, true);
  await first.mirror.load(OWNER);
  const { tombstones } = first.core;
  for (const at of [5, 7, 6]) tombstones.forgetNamespace(SCOPE, at);
  for (const until of [50, 99]) tombstones.noteKept(SCOPE, "1", until);
  await first.mirror.flush(OWNER);
  tombstones.forgetNamespace(SCOPE, 8);
  tombstones.forgetNamespace(SCOPE, 9);
  await first.mirror.flush(OWNER);
  assert.equal(first.mirror.isDirty(OWNER), false);
  await first.mirror.load(OWNER);
  assert.equal(tombstones.forgottenAt(SCOPE), 9);
  assert.equal((await one.ledger.read(OWNER)).rows.length, 2);
});
