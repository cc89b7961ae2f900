import { deepStrictEqual, ok, rejects } from "node:assert/strict";
import type { AccountAdmin, AccountRegistry, NewKey, Permission } from "../src/interfaces/mod.ts";
import { lawOf, objectId } from "./law.ts";
import type { Case } from "./suite.ts";

const OWNER = objectId("a");
const INVALID = { name: "SvcError", code: "invalid_parameter" };

/** A public key and its address (key of RFC 8032, 7.1, test 1). */
export const KNOWN_KEY = {
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

/** A public key nobody has used. */
export async function freshKey(): Promise<string> {
  const { publicKey } = await crypto.subtle.generateKey("Ed25519", true, [
    "sign",
    "verify",
  ]) as CryptoKeyPair;
  return new Uint8Array(await crypto.subtle.exportKey("raw", publicKey)).toHex();
}

/** A key to add; what is not given is ordinary. */
export async function newKey(rest: Partial<NewKey> = {}): Promise<NewKey> {
  return {
    publicKey: rest.publicKey ?? await freshKey(),
    label: "laptop",
    permissions: ["read", "write"],
    ...rest,
  };
}

/** A case about the registry's `admin`. */
export function adminLaw(
  name: string,
  body: (admin: AccountAdmin, accounts: AccountRegistry) => Promise<void>,
): Case<AccountRegistry> {
  return lawOf(name, "admin", (accounts: AccountRegistry) => accounts.admin, body);
}

/** Which keys are taken. */
export const KEY_RULE_CASES: readonly Case<AccountRegistry>[] = [
  adminLaw("computes the key's address", async (admin) => {
    const { accountId } = await admin.create(OWNER);
    const { keys } = await admin.addKey(accountId, await newKey(KNOWN_KEY));
    deepStrictEqual(keys.map(({ address }) => address), [KNOWN_KEY.address]);
  }),
  adminLaw("takes labels of 1 to 64 bytes of UTF-8", async (admin) => {
    const { accountId } = await admin.create(OWNER);
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
    const { accountId } = await admin.create(OWNER);
    for (const permissions of [["read"], ["write"], ["read", "write"]] as Permission[][]) {
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
    const { accountId } = await admin.create(OWNER);
    const key = await freshKey();
    for (const publicKey of ["", key.slice(1), `${key}0`, `0x${key.slice(2)}`, "g".repeat(64)]) {
      await rejects(admin.addKey(accountId, await newKey({ publicKey })), INVALID);
    }
    deepStrictEqual((await accounts.get(accountId))?.keys, []);
  }),
  adminLaw("refuses keys of low order", async (admin, accounts) => {
    const { accountId } = await admin.create(OWNER);
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
    const { accountId } = await admin.create(OWNER);
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
  adminLaw("takes 100 keys and refuses the next", async (admin, accounts) => {
    const { accountId } = await admin.create(OWNER);
    for (let count = 0; count < 100; count++) await admin.addKey(accountId, await newKey());
    await rejects(admin.addKey(accountId, await newKey()), INVALID);
    deepStrictEqual((await accounts.get(accountId))?.keys.length, 100);
  }),
];
