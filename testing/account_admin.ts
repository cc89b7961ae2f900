import { deepStrictEqual, match, notDeepStrictEqual, ok, rejects } from "node:assert/strict";
import { within } from "../src/deadline.ts";
import type { AccountRegistry } from "../src/interfaces/mod.ts";
import { adminLaw, freshKey, newKey } from "./account_keys.ts";
import { objectId } from "./law.ts";
import type { Case } from "./suite.ts";

const A = objectId("a");
const B = objectId("b");
const UNKNOWN = objectId("5");

/** How long a change may take to be told. */
const TOLD_WITHIN_MS = 1000;

function upper(hex: string): string {
  return hex.startsWith("0x") ? `0x${hex.slice(2).toUpperCase()}` : hex.toUpperCase();
}

/** Resolves when the promise does, rejects after {@linkcode TOLD_WITHIN_MS}. */
async function soon<T>(promise: Promise<T>): Promise<T> {
  return await within(TOLD_WITHIN_MS, promise, () => {
    throw new Error("nothing was told");
  });
}

/** Accounts, and the keys on them. */
export const ADMIN_CASES: readonly Case<AccountRegistry>[] = [
  adminLaw("creates the account of an owner", async (admin, accounts) => {
    const account = await admin.create(A);
    match(account.accountId, /^0x[0-9a-f]{64}$/);
    deepStrictEqual(account, { accountId: account.accountId, owner: A, active: true, keys: [] });
    deepStrictEqual(await accounts.get(account.accountId), account);
    deepStrictEqual(await admin.ofOwner(A), account);
    deepStrictEqual(await admin.ofOwner(B), undefined);
  }),
  adminLaw("creates one account an owner", async (admin) => {
    await admin.create(A);
    for (const owner of [A, upper(A)]) {
      await rejects(admin.create(owner), { name: "SvcError", code: "account_exists" });
    }
    notDeepStrictEqual((await admin.create(B)).accountId, (await admin.ofOwner(A))?.accountId);
    deepStrictEqual((await admin.list()).map(({ owner }) => owner).sort(), [A, B]);
  }),
  adminLaw("resolves a key to the account that lists it", async (admin, accounts) => {
    const [first, second] = [await admin.create(A), await admin.create(B)];
    const [one, two] = [await newKey(), await newKey({ label: "phone", permissions: ["read"] })];
    await admin.addKey(first.accountId, one);
    const changed = await admin.addKey(second.accountId, two);
    deepStrictEqual(await accounts.resolve(two.publicKey), changed);
    deepStrictEqual((await accounts.resolve(one.publicKey))?.owner, A);
    deepStrictEqual(await accounts.resolve(await freshKey()), undefined);
    const [key] = changed.keys;
    deepStrictEqual([key?.publicKey, key?.label], [two.publicKey, "phone"]);
    ok(Math.abs((key?.createdAt ?? NaN) - Date.now()) < 60_000, "createdAt is not now");
  }),
  adminLaw("refuses a key that an account lists", async (admin, accounts) => {
    const [first, second] = [await admin.create(A), await admin.create(B)];
    const key = await newKey();
    await admin.addKey(first.accountId, key);
    for (const { accountId } of [first, second]) {
      for (const publicKey of [key.publicKey, upper(key.publicKey)]) {
        await rejects(admin.addKey(accountId, { ...key, publicKey }), {
          name: "SvcError",
          code: "key_exists",
        });
      }
    }
    deepStrictEqual((await accounts.get(first.accountId))?.keys.length, 1);
    deepStrictEqual((await accounts.get(second.accountId))?.keys, []);
  }),
  adminLaw("removes a key, which may then be added elsewhere", async (admin, accounts) => {
    const [first, second] = [await admin.create(A), await admin.create(B)];
    const [gone, kept] = [await newKey(), await newKey()];
    await admin.addKey(first.accountId, gone);
    await admin.addKey(first.accountId, kept);
    const left = await admin.removeKey(first.accountId, gone.publicKey);
    deepStrictEqual(left.keys.map(({ publicKey }) => publicKey), [kept.publicKey]);
    deepStrictEqual(await accounts.resolve(gone.publicKey), undefined);
    deepStrictEqual((await accounts.resolve(kept.publicKey))?.owner, A);
    await admin.addKey(second.accountId, gone);
    deepStrictEqual((await accounts.resolve(gone.publicKey))?.owner, B);
  }),
  adminLaw("answers not_found for unknown accounts and keys", async (admin) => {
    const { accountId } = await admin.create(A);
    const key = await newKey();
    const missing = { name: "SvcError", code: "not_found" };
    await rejects(admin.addKey(UNKNOWN, key), missing);
    await rejects(admin.removeKey(UNKNOWN, key.publicKey), missing);
    await rejects(admin.removeKey(accountId, key.publicKey), missing);
    await rejects(admin.setActive(UNKNOWN, false), missing);
    deepStrictEqual((await admin.list()).length, 1);
  }),
  adminLaw("shows whether an account is active and keeps its keys", async (admin, accounts) => {
    const { accountId } = await admin.create(A);
    const key = await newKey();
    await admin.addKey(accountId, key);
    for (const active of [false, false, true]) {
      deepStrictEqual((await admin.setActive(accountId, active)).active, active);
      deepStrictEqual((await accounts.get(accountId))?.active, active);
      const resolved = await accounts.resolve(key.publicKey);
      deepStrictEqual([resolved?.active, resolved?.keys.length], [active, 1]);
    }
  }),
  adminLaw("takes hex in either case and answers lower case", async (admin, accounts) => {
    const key = await newKey();
    const { accountId, owner } = await admin.create(upper(A));
    deepStrictEqual([owner, accountId], [A, accountId.toLowerCase()]);
    const added = await admin.addKey(upper(accountId), {
      ...key,
      publicKey: upper(key.publicKey),
    });
    deepStrictEqual(added.keys[0]?.publicKey, key.publicKey);
    deepStrictEqual(await accounts.resolve(upper(key.publicKey)), added);
    deepStrictEqual(await accounts.get(upper(accountId)), added);
    deepStrictEqual(await admin.ofOwner(upper(A)), added);
    deepStrictEqual((await admin.setActive(upper(accountId), true)).accountId, accountId);
    deepStrictEqual((await admin.removeKey(upper(accountId), upper(key.publicKey))).keys, []);
  }),
  adminLaw("adds one key once, however many ask at a time", async (admin, accounts) => {
    const { accountId } = await admin.create(A);
    const key = await newKey();
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () => admin.addKey(accountId, key)),
    );
    deepStrictEqual(results.filter(({ status }) => status === "fulfilled").length, 1);
    deepStrictEqual((await accounts.get(accountId))?.keys.length, 1);
  }),
  {
    name: "tells of changes until the watch is disposed",
    async run(make) {
      await using accounts = await make();
      const { admin } = accounts;
      if (accounts.watch === undefined || admin === undefined) {
        return "the backend has no admin and watch";
      }
      const { accountId } = await admin.create(A);
      const changes: ((accountId: string) => Promise<unknown>)[] = [
        async (id) => await admin.addKey(id, await newKey({ publicKey: "7".repeat(64) })),
        async (id) => await admin.setActive(id, false),
        async (id) => await admin.removeKey(id, "7".repeat(64)),
      ];
      for (const change of changes) {
        const told = Promise.withResolvers<string | undefined>();
        const watch = accounts.watch(told.resolve);
        await change(accountId);
        const id = await soon(told.promise);
        ok(id === undefined || id === accountId, "another account was named");
        watch[Symbol.dispose]();
      }
      let calls = 0;
      accounts.watch(() => void calls++)[Symbol.dispose]();
      await admin.setActive(accountId, true);
      deepStrictEqual(calls, 0, "told after the watch was disposed");
      return undefined;
    },
  },
];
