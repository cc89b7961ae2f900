import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { localAccounts } from "../../../plugins/local/mod.ts";
import type { NewKey } from "../../../src/interfaces/mod.ts";
import { addressOf } from "../../../src/wire/keys.ts";
import { folderForTests } from "../sealer_for_tests.ts";

const OWNER = "0x" + "ab".repeat(32);
const ACCOUNT = /^0x[0-9a-f]{64}$/;

function keyOf(n: number, changes: Partial<NewKey> = {}): NewKey {
  const publicKey = (n + 16).toString(16).padStart(2, "0").repeat(32);
  return { publicKey, label: `key ${n}`, permissions: ["read", "write"], ...changes };
}

Deno.test("accounts and keys are found again, also after a reopen", async () => {
  await using folder = await folderForTests();
  let accountId: string;
  {
    await using accounts = localAccounts({ dataDir: folder.path, now: () => 1000 });
    const account = await accounts.admin.create(OWNER.toUpperCase().replace("0X", "0x"));
    assert.match(account.accountId, ACCOUNT);
    assert.deepEqual(account, {
      accountId: account.accountId,
      owner: OWNER,
      active: true,
      keys: [],
    });
    accountId = account.accountId;
    const upper = keyOf(0xd0, { expiresAt: 2000, permissions: ["write", "read", "write"] });
    await accounts.admin.addKey(accountId, {
      ...upper,
      publicKey: upper.publicKey.toUpperCase(),
    });
    await accounts.admin.addKey(accountId, keyOf(2, { permissions: ["read"] }));
  }
  await using accounts = localAccounts({ dataDir: folder.path });
  const found = await accounts.resolve(keyOf(0xd0).publicKey);
  assert.deepEqual(found, {
    accountId,
    owner: OWNER,
    active: true,
    keys: [
      {
        publicKey: keyOf(0xd0).publicKey,
        address: addressOf(keyOf(0xd0).publicKey),
        label: "key 208",
        permissions: ["read", "write"],
        createdAt: 1000,
        expiresAt: 2000,
      },
      {
        publicKey: keyOf(2).publicKey,
        address: addressOf(keyOf(2).publicKey),
        label: "key 2",
        permissions: ["read"],
        createdAt: 1000,
      },
    ],
  });
  assert.deepEqual(await accounts.get(accountId), found);
  assert.deepEqual(await accounts.admin.ofOwner(OWNER), found);
  assert.deepEqual(await accounts.admin.list(), [found]);
  assert.equal(await accounts.resolve(keyOf(3).publicKey), undefined);
  assert.equal(await accounts.get(OWNER), undefined);
  assert.equal(await accounts.admin.ofOwner(accountId), undefined);
  assert.equal(await accounts.resolve("'; drop table account; --"), undefined);

  const removed = await accounts.admin.removeKey(accountId, keyOf(2).publicKey);
  assert.equal(removed.keys.length, 1);
  assert.equal(await accounts.resolve(keyOf(2).publicKey), undefined);
  assert.equal((await accounts.admin.setActive(accountId, false)).active, false);
  assert.equal((await accounts.resolve(keyOf(0xd0).publicKey))?.active, false);
  assert.equal((await accounts.admin.setActive(accountId, true)).active, true);
});

Deno.test("an owner's account has the same id wherever it is made", async () => {
  const ids = await Promise.all([0, 1].map(async () => {
    await using folder = await folderForTests();
    await using accounts = localAccounts({ dataDir: folder.path });
    const other = await accounts.admin.create("0x" + "1".repeat(64));
    const { accountId } = await accounts.admin.create(OWNER);
    assert.notEqual(other.accountId, accountId);
    return accountId;
  }));
  assert.equal(ids[0], ids[1]);
});

Deno.test("rules of accounts and keys", async () => {
  await using folder = await folderForTests();
  await using accounts = localAccounts({ dataDir: folder.path, now: () => 1000 });
  const { admin } = accounts;
  const { accountId } = await admin.create(OWNER);
  const second = await admin.create("0x" + "1".repeat(64));
  await assert.rejects(admin.create(OWNER), { code: "account_exists" });
  for (const owner of ["", "0x12", OWNER.slice(2), OWNER + "0", "0x" + "g".repeat(64)]) {
    await assert.rejects(admin.create(owner), { code: "invalid_parameter", field: "owner" });
  }
  await admin.addKey(accountId, keyOf(1));
  for (const id of [accountId, second.accountId]) {
    await assert.rejects(admin.addKey(id, keyOf(1)), { code: "key_exists" });
  }
  const bad: [string, Partial<NewKey>][] = [
    ["public_key", { publicKey: "zz".repeat(32) }],
    ["public_key", { publicKey: "0x" + "1".repeat(64) }],
    ["public_key", { publicKey: "01" + "0".repeat(62) }],
    ["public_key", { publicKey: "ec" + "f".repeat(62) }],
    ["label", { label: "" }],
    ["label", { label: "é".repeat(33) }],
    ["label", { label: "a\nb" }],
    ["label", { label: "a\u0085b" }],
    ["label", { label: "\ud800" }],
    ["permissions", { permissions: [] }],
    ["permissions", { permissions: ["read", "admin" as "read"] }],
    ["expires_at", { expiresAt: 1000 }],
    ["expires_at", { expiresAt: NaN }],
    ["expires_at", { expiresAt: 2000.5 }],
  ];
  for (const [field, changes] of bad) {
    await assert.rejects(admin.addKey(accountId, keyOf(2, changes)), {
      code: "invalid_parameter",
      field,
    });
  }
  await admin.addKey(accountId, keyOf(2, { label: "é".repeat(32) }));
  const nobody = "0x" + "9".repeat(64);
  await assert.rejects(admin.addKey(nobody, keyOf(3)), { code: "not_found" });
  await assert.rejects(admin.setActive(nobody, false), { code: "not_found" });
  await assert.rejects(admin.removeKey(nobody, keyOf(1).publicKey), { code: "not_found" });
  await assert.rejects(admin.removeKey(second.accountId, keyOf(1).publicKey), {
    code: "not_found",
  });
  assert.ok(await accounts.resolve(keyOf(1).publicKey));
  for (let n = 3; n <= 100; n++) await admin.addKey(accountId, keyOf(n));
  await assert.rejects(admin.addKey(accountId, keyOf(101)), { code: "invalid_parameter" });
});

Deno.test("keys that ended make room in a full account", async () => {
  await using folder = await folderForTests();
  let now = 1000;
  await using accounts = localAccounts({ dataDir: folder.path, now: () => now });
  const { admin } = accounts;
  const { accountId } = await admin.create(OWNER);
  for (let n = 1; n <= 100; n++) {
    await admin.addKey(accountId, keyOf(n, n <= 3 ? { expiresAt: 1000 + n } : {}));
  }
  await assert.rejects(admin.addKey(accountId, keyOf(101)), { code: "invalid_parameter" });
  now = 1002;
  const { keys } = await admin.addKey(accountId, keyOf(101));
  assert.equal(keys.length, 99, "keys 1 and 2 have ended, key 3 has not");
  for (const n of [1, 2]) {
    assert.equal(await accounts.resolve(keyOf(n).publicKey), undefined);
  }
  assert.equal((await accounts.resolve(keyOf(3).publicKey))?.accountId, accountId);
});

Deno.test("two creations at once make one account", async () => {
  await using folder = await folderForTests();
  await using one = localAccounts({ dataDir: folder.path });
  await using two = localAccounts({ dataDir: folder.path });
  const results = await Promise.allSettled([one, one, two].map((a) => a.admin.create(OWNER)));
  assert.deepEqual(results.map((r) => r.status), ["fulfilled", "rejected", "rejected"]);
  assert.equal((await one.admin.list()).length, 1);
});

Deno.test("changes made here are told at once", async () => {
  await using folder = await folderForTests();
  await using accounts = localAccounts({ dataDir: folder.path });
  const told: (string | undefined)[] = [];
  const { accountId } = await accounts.admin.create(OWNER);
  {
    using _watch = accounts.watch((id) => told.push(id));
    await accounts.admin.addKey(accountId, keyOf(1));
    await assert.rejects(accounts.admin.addKey(accountId, keyOf(1)));
    await accounts.admin.setActive(accountId, false);
  }
  await accounts.admin.setActive(accountId, true);
  assert.deepEqual(told, [accountId, accountId]);
});

Deno.test("changes of another connection are told, writes to other tables are not", async () => {
  await using folder = await folderForTests();
  await using accounts = localAccounts({ dataDir: folder.path, pollMs: 2 });
  await using other = localAccounts({ dataDir: folder.path });
  const { accountId } = await accounts.admin.create(OWNER);
  using core = new DatabaseSync(`${folder.path}/core.db`);
  const told: (string | undefined)[] = [];
  let next = Promise.withResolvers<void>();
  using _watch = accounts.watch((id) => {
    told.push(id);
    next.resolve();
  });
  // Polling alone does not keep the process alive.
  const alive = setInterval(() => {}, 60_000);
  using _alive = { [Symbol.dispose]: () => clearInterval(alive) };
  core.exec("create table tombstone(id text); insert into tombstone values('x')");
  await other.admin.addKey(accountId, keyOf(1));
  await next.promise;
  assert.ok(await accounts.resolve(keyOf(1).publicKey));
  next = Promise.withResolvers();
  await other.admin.setActive(accountId, false);
  await next.promise;
  assert.deepEqual(told, [undefined, undefined]);
  await accounts.admin.setActive(accountId, true);
  assert.equal(told.at(-1), accountId);
});

Deno.test("aborted calls reject with the reason, calls of a closed registry are refused", async () => {
  await using folder = await folderForTests();
  const accounts = localAccounts({ dataDir: folder.path });
  const reason = new Error("enough");
  const signal = AbortSignal.abort(reason);
  await assert.rejects(accounts.get(OWNER, { signal }), (error) => error === reason);
  await assert.rejects(accounts.resolve("x", { signal }), (error) => error === reason);
  accounts.watch(() => {});
  await accounts[Symbol.asyncDispose]();
  for (
    const call of [
      () => accounts.get(OWNER),
      () => accounts.resolve("x"),
      () => accounts.admin.list(),
      () => accounts.admin.create(OWNER),
    ]
  ) await assert.rejects(call, { code: "storage_unavailable" });
  assert.throws(() => accounts.watch(() => {}), { code: "storage_unavailable" });
});

Deno.test("an earlier version does not know a bound key, so that it opens nothing there", async () => {
  await using folder = await folderForTests();
  const { publicKey } = keyOf(1);
  {
    await using accounts = localAccounts({ dataDir: folder.path });
    const { accountId } = await accounts.admin.create(OWNER);
    await accounts.admin.addKey(accountId, keyOf(1, { namespaces: ["work"] }));
    await accounts.admin.addKey(accountId, keyOf(2));
    await assert.rejects(accounts.admin.addKey(accountId, keyOf(1)), { code: "key_exists" });
  }
  using file = new DatabaseSync(`${folder.path}/core.db`);
  const known = file.prepare("select public_key from delegate_key").all();
  assert.deepEqual(known.map((row) => row.public_key), [keyOf(2).publicKey]);
  // It may add that very key, bound to nothing: the narrower one counts here.
  file.exec(`insert into delegate_key
    select 99, account, '${publicKey}', address, label, permissions, created_at, null
    from delegate_key`);
  await using accounts = localAccounts({ dataDir: folder.path });
  const account = await accounts.resolve(publicKey);
  const keys = account?.keys.filter((key) => key.publicKey === publicKey);
  assert.deepEqual(keys?.map((key) => key.namespaces), [["work"]]);
  const left = await accounts.admin.removeKey(account!.accountId, publicKey);
  assert.deepEqual(left.keys.map((key) => key.publicKey), [keyOf(2).publicKey]);
  assert.equal(await accounts.resolve(publicKey), undefined);
});
