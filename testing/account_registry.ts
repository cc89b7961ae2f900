import { deepStrictEqual } from "node:assert/strict";
import type { AccountRegistry } from "../src/interfaces/mod.ts";
import { ADMIN_CASES } from "./account_admin.ts";
import { KEY_RULE_CASES } from "./account_keys.ts";
import { abortLaw, law, objectId } from "./law.ts";
import type { Suite } from "./suite.ts";

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
