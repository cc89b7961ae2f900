import { deepStrictEqual, match, notDeepStrictEqual, ok, rejects } from "node:assert/strict";
import { within } from "../src/deadline.ts";
import type { AccountAdmin, AccountRegistry, NewKey, Permission } from "../src/interfaces/mod.ts";
import { abortLaw, law, lawOf, objectId } from "./law.ts";
import type { Case, Suite } from "./suite.ts";

const A = objectId("a");
const B = objectId("b");
const UNKNOWN = objectId("5");

const INVALID = { name: "SvcError", code: "invalid_parameter" };

/** A public key and its address (key of RFC 8032, 7.1, test 1). */
const KNOWN_KEY = {
  publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
  address: "0x304af458e90e97c841685b8cbbc59b909f3e2cf150df590ada4c81452c29737d",
};

/** The points of low order, canonical and not, whatever the sign bit (RFC 8032, 5.1.3). */
const LOW_ORDER: readonly string[] = [
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
].flatMap((point) => {
  const bytes = Uint8Array.fromHex(point);
  return [point, bytes.with(31, bytes[31]! | 0x80).toHex()];
});

async function freshKey(): Promise<string> {
  const { publicKey } = await crypto.subtle.generateKey("Ed25519", true, [
    "sign",
    "verify",
  ]) as CryptoKeyPair;
  return new Uint8Array(await crypto.subtle.exportKey("raw", publicKey)).toHex();
}

/** A key to add; what is not given is ordinary. */
async function newKey(rest: Partial<NewKey> = {}): Promise<NewKey> {
  return {
    publicKey: rest.publicKey ?? await freshKey(),
    label: "laptop",
    permissions: ["read", "write"],
    ...rest,
  };
}

function adminLaw(
  name: string,
  body: (admin: AccountAdmin, accounts: AccountRegistry) => Promise<void>,
): Case<AccountRegistry> {
  return lawOf(name, "admin", (accounts: AccountRegistry) => accounts.admin, body);
}

const KEY_RULE_CASES: readonly Case<AccountRegistry>[] = [
  adminLaw("computes the key's address", async (admin) => {
    const { accountId } = await admin.create(A);
    const { keys } = await admin.addKey(accountId, await newKey(KNOWN_KEY));
    deepStrictEqual(keys.map(({ address }) => address), [KNOWN_KEY.address]);
  }),
  adminLaw("takes labels of 1 to 64 bytes of UTF-8", async (admin) => {
    const { accountId } = await admin.create(A);
    for (const label of ["x", "x".repeat(64), "é".repeat(32), "'; -- \u{1f9e0}"]) {
      const key = await newKey({ label });
      const { keys } = await admin.addKey(accountId, key);
      deepStrictEqual(keys.find(({ publicKey }) => publicKey === key.publicKey)?.label, label);
    }
    for (const label of ["", "x".repeat(65), "é".repeat(33)]) {
      const key = await newKey({ label });
      await rejects(admin.addKey(accountId, key), INVALID, `took a label of ${label.length}`);
    }
  }),
  adminLaw("takes at least one known permission", async (admin) => {
    const { accountId } = await admin.create(A);
    for (
      const permissions of [["read"], ["write"], ["read", "write"], [
        "manage",
        "read",
        "write",
      ]] as Permission[][]
    ) {
      const key = await newKey({ permissions });
      const { keys } = await admin.addKey(accountId, key);
      const added = keys.find(({ publicKey }) => publicKey === key.publicKey);
      deepStrictEqual([...added?.permissions ?? []].sort(), permissions);
    }
    for (const permissions of [[], ["admin"], ["read", "root"]] as unknown as Permission[][]) {
      await rejects(admin.addKey(accountId, await newKey({ permissions })), INVALID);
    }
  }),
  adminLaw("refuses what is no public key", async (admin, accounts) => {
    const { accountId } = await admin.create(A);
    const key = await freshKey();
    for (const publicKey of ["", key.slice(1), `${key}0`, `0x${key.slice(2)}`, "g".repeat(64)]) {
      await rejects(admin.addKey(accountId, await newKey({ publicKey })), INVALID);
    }
    deepStrictEqual((await accounts.get(accountId))?.keys, []);
  }),
  adminLaw("refuses keys of low order", async (admin, accounts) => {
    const { accountId } = await admin.create(A);
    for (const publicKey of LOW_ORDER) {
      await rejects(
        admin.addKey(accountId, await newKey({ publicKey })),
        INVALID,
        `took ${publicKey}`,
      );
      deepStrictEqual(await accounts.resolve(publicKey), undefined);
    }
  }),
  adminLaw("keeps an expiry, takes none in the past, and adds none", async (admin, accounts) => {
    const { accountId } = await admin.create(A);
    const lasting = await newKey();
    const expiring = await newKey({ expiresAt: Date.now() + 86_400_000 });
    await admin.addKey(accountId, lasting);
    await admin.addKey(accountId, expiring);
    const keys = (await accounts.get(accountId))?.keys ?? [];
    const added = (wanted: NewKey) => keys.find((key) => key.publicKey === wanted.publicKey);
    deepStrictEqual(added(expiring)?.expiresAt, expiring.expiresAt);
    ok(!("expiresAt" in (added(lasting) ?? {})), "an expiry came from nowhere");
    const past = await newKey({ expiresAt: Date.now() - 1000 });
    await rejects(admin.addKey(accountId, past), INVALID);
  }),
  adminLaw("binds a key to its namespaces, or refuses it", async (admin, accounts) => {
    const { accountId } = await admin.create(A);
    const namespaces = ["work", "notes/", '日 記,"x"'];
    const bound = await newKey({ namespaces });
    let refused: unknown;
    await admin.addKey(accountId, bound).catch((error: unknown) => refused = error);
    const kept = (await accounts.resolve(bound.publicKey))?.keys
      .find(({ publicKey }) => publicKey === bound.publicKey);
    if (refused !== undefined) {
      deepStrictEqual((refused as { code?: unknown }).code, INVALID.code);
      return deepStrictEqual(kept, undefined);
    }
    // A key that forgets what it is bound to would see everything.
    deepStrictEqual(kept?.namespaces, namespaces);
    const free = await newKey();
    const { keys } = await admin.addKey(accountId, free);
    const other = keys.find(({ publicKey }) => publicKey === free.publicKey);
    ok(other !== undefined && !("namespaces" in other), "a bound came from nowhere");
    for (const none of [[], [""], ["a\nb"], ["x".repeat(257)], Array(33).fill("a")]) {
      await rejects(admin.addKey(accountId, await newKey({ namespaces: none })), INVALID);
    }
  }),
  adminLaw("adopts an account as it is, in the place of what is known", async (admin, accounts) => {
    if (admin.adopt === undefined) return;
    const { accountId } = await admin.create(A);
    await admin.addKey(accountId, await newKey());
    const [ended, bound] = [await newKey({ expiresAt: Date.now() + 60_000 }), await newKey()];
    await admin.addKey(accountId, ended);
    await admin.addKey(accountId, bound);
    const { keys, ...account } = await admin.setActive(accountId, false);
    const adopted = {
      ...account,
      keys: keys.slice(1).map((key, i) => ({ ...key, createdAt: 1000 + i, label: `old ${i}` })),
    };
    for (let times = 0; times < 2; times++) {
      await admin.adopt(adopted);
      deepStrictEqual(await accounts.get(accountId), adopted);
    }
    deepStrictEqual(await accounts.resolve(keys[0]!.publicKey), undefined);
    deepStrictEqual(await accounts.resolve(bound.publicKey), adopted);
    const { accountId: other } = await admin.create(B);
    await rejects(admin.adopt({ accountId: other, owner: B, active: true, keys: adopted.keys }), {
      name: "SvcError",
      code: "key_exists",
    });
    deepStrictEqual((await accounts.get(other))?.keys, []);
  }),
  adminLaw("takes 100 keys and refuses the next", async (admin, accounts) => {
    const { accountId } = await admin.create(A);
    for (let count = 0; count < 100; count++) await admin.addKey(accountId, await newKey());
    await rejects(admin.addKey(accountId, await newKey()), INVALID);
    deepStrictEqual((await accounts.get(accountId))?.keys.length, 100);
  }),
];

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

const ADMIN_CASES: readonly Case<AccountRegistry>[] = [
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

/**
 * What every {@linkcode AccountRegistry} promises. Every case makes its own registry, without
 * accounts where it has an `admin`; without one, the cases that need an account say so.
 */
export const accountRegistrySuite: Suite<AccountRegistry> = {
  name: "AccountRegistry",
  cases: [
    law("knows no strangers", async (accounts) => {
      deepStrictEqual(await accounts.resolve("5".repeat(64)), undefined);
      deepStrictEqual(await accounts.get(objectId("5")), undefined);
    }),
    ...ADMIN_CASES,
    ...KEY_RULE_CASES,
    abortLaw<AccountRegistry>((accounts, signal) => ({
      resolve: () => accounts.resolve("5".repeat(64), { signal }),
      get: () => accounts.get(objectId("5"), { signal }),
    })),
  ],
};
