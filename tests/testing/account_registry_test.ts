import { deepStrictEqual } from "node:assert/strict";
import { memoryAccounts } from "../../plugins/memory/mod.ts";
import { SvcError } from "../../src/errors.ts";
import type { AccountAdmin, AccountRegistry } from "../../src/interfaces/mod.ts";
import { accountRegistrySuite, conform, runSuite } from "../../testing/mod.ts";
import { mutants } from "./mutants.ts";

conform(accountRegistrySuite, "memory", () => memoryAccounts());

function onAdmin(
  change: (admin: AccountAdmin, accounts: AccountRegistry) => Partial<AccountAdmin>,
) {
  return (accounts: AccountRegistry): Partial<AccountRegistry> => {
    const admin = accounts.admin!;
    return { admin: { ...admin, ...change(admin, accounts) } };
  };
}

/** Adds a key under a key or label that passes, where the sound registry refuses. */
function taking(code: string, usual: { label?: string; publicKey?: string }) {
  return onAdmin((admin) => ({
    addKey: async (accountId, key) => {
      try {
        return await admin.addKey(accountId, key);
      } catch (error) {
        if (!(error instanceof SvcError && error.code === code)) throw error;
        return await admin.addKey(accountId, { ...key, ...usual });
      }
    },
  }));
}

const ORDINARY_KEY = "8".repeat(64);

mutants(accountRegistrySuite, () => memoryAccounts(), [
  {
    name: "takes keys of low order",
    fails: ["refuses keys of low order"],
    change: taking("invalid_parameter", { publicKey: ORDINARY_KEY }),
  },
  {
    name: "forgets what a key is bound to",
    fails: ["binds a key to its namespaces, or refuses it"],
    change: onAdmin((admin) => ({
      addKey: (accountId, { namespaces: _, ...key }) => admin.addKey(accountId, key),
    })),
  },
  {
    name: "counts labels in characters",
    fails: ["takes labels of 1 to 64 bytes of UTF-8"],
    change: onAdmin((admin) => ({
      addKey: (accountId, key) =>
        admin.addKey(accountId, key.label.length > 64 ? key : { ...key, label: "short" }),
    })),
  },
  {
    name: "takes a key that another account lists",
    fails: ["refuses a key that an account lists"],
    change: onAdmin((admin, accounts) => ({
      async addKey(accountId, key) {
        const holder = await accounts.resolve(key.publicKey);
        if (holder !== undefined) await admin.removeKey(holder.accountId, key.publicKey);
        return await admin.addKey(accountId, key);
      },
    })),
  },
  {
    name: "creates a second account for an owner",
    fails: ["creates one account an owner"],
    change: onAdmin((admin) => ({
      create: async (owner) => await admin.ofOwner(owner) ?? await admin.create(owner),
    })),
  },
  {
    name: "forgets expiry",
    fails: ["keeps an expiry, takes none in the past, and adds none"],
    change: onAdmin((admin) => ({
      addKey: (accountId, { publicKey, label, permissions }) =>
        admin.addKey(accountId, { publicKey, label, permissions }),
    })),
  },
  {
    name: "gives every key every permission",
    fails: ["takes at least one known permission"],
    change: onAdmin((admin) => ({
      addKey: (accountId, key) =>
        admin.addKey(accountId, { ...key, permissions: ["read", "write"] }),
    })),
  },
  {
    name: "keeps removed keys",
    fails: ["removes a key, which may then be added elsewhere"],
    change: onAdmin((_admin, accounts) => ({
      removeKey: async (accountId) => (await accounts.get(accountId))!,
    })),
  },
  {
    name: "looks keys up as they are written",
    fails: ["takes hex in either case and answers lower case"],
    change: (accounts) => ({
      resolve: async (publicKey, options) => {
        const account = await accounts.resolve(publicKey, options);
        return publicKey === publicKey.toLowerCase() ? account : undefined;
      },
    }),
  },
  {
    name: "hides inactive accounts",
    fails: ["shows whether an account is active and keeps its keys"],
    change: (accounts) => ({
      async resolve(publicKey, options) {
        const account = await accounts.resolve(publicKey, options);
        return account?.active ? account : undefined;
      },
    }),
  },
  {
    name: "says nothing about unknown accounts",
    fails: ["answers not_found for unknown accounts and keys"],
    change: onAdmin((admin) => ({
      setActive: async (accountId, active) => {
        try {
          return await admin.setActive(accountId, active);
        } catch {
          return { accountId, owner: accountId, active, keys: [] };
        }
      },
    })),
  },
  {
    name: "takes any number of keys",
    fails: ["takes 100 keys and refuses the next"],
    change: onAdmin((admin, accounts) => ({
      async addKey(accountId, key) {
        const keys = (await accounts.get(accountId))?.keys ?? [];
        if (keys.length >= 100) await admin.removeKey(accountId, keys[0]!.publicKey);
        return await admin.addKey(accountId, key);
      },
    })),
  },
  {
    name: "answers a wrong address",
    fails: ["computes the key's address"],
    change: onAdmin((admin) => ({
      async addKey(accountId, key) {
        const account = await admin.addKey(accountId, key);
        const keys = account.keys.map((added) => ({ ...added, address: `0x${added.publicKey}` }));
        return { ...account, keys };
      },
    })),
  },
  {
    name: "tells nobody",
    fails: ["tells of changes until the watch is disposed"],
    change: () => ({ watch: () => ({ [Symbol.dispose]: () => undefined }) }),
  },
  {
    name: "goes on telling",
    fails: ["tells of changes until the watch is disposed"],
    change: (accounts) => ({
      watch(listener) {
        accounts.watch?.(listener);
        return { [Symbol.dispose]: () => undefined };
      },
    }),
  },
  {
    name: "ignores the signal",
    fails: ["rejects with the reason of an aborted signal"],
    change: (accounts) => ({ get: (accountId) => accounts.get(accountId) }),
  },
]);

Deno.test("AccountRegistry suite skips what needs an admin, with a reason", async () => {
  const results = await runSuite(accountRegistrySuite, () => {
    const { admin: _, ...registry } = memoryAccounts();
    return registry;
  });
  deepStrictEqual(
    results.filter(({ status }) => status === "passed").map(({ name }) => name),
    ["knows no strangers", "rejects with the reason of an aborted signal"],
  );
  const skipped = results.filter((result) => result.status === "skipped");
  deepStrictEqual(skipped.length, accountRegistrySuite.cases.length - 2);
  deepStrictEqual(skipped.every(({ reason }) => reason.includes("no admin")), true);
});
