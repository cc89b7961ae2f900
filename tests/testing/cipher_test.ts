import { memoryCipher } from "../../plugins/memory/mod.ts";
import { SvcError } from "../../src/errors.ts";
import type { Cipher, Sealed } from "../../src/interfaces/mod.ts";
import { cipherSuite, conform } from "../../testing/mod.ts";
import { type Mutant, mutants } from "./mutants.ts";

conform(cipherSuite, "memory", memoryCipher);

/** Seals and opens in another context than the one given. */
function loose(
  member: "accountId" | "owner" | "namespace",
): Mutant<Cipher>["change"] {
  return (cipher) => ({
    seal: (plaintext, context, options) =>
      cipher.seal(plaintext, { ...context, [member]: "any" }, options),
    open: (items, context) => cipher.open(items, { ...context, [member]: "any" }),
  });
}

/** Remembers what was sealed, by the key a record is found under. */
function remembering(keyOf: (record: Uint8Array) => string): Mutant<Cipher>["change"] {
  return (cipher) => {
    const plains = new Map<string, Uint8Array>();
    return {
      async seal(plaintext, context, options) {
        const sealed = await cipher.seal(plaintext, context, options);
        plains.set(keyOf(sealed.record), plaintext.slice());
        return sealed;
      },
      async open(items, context) {
        const results = await cipher.open(items, context);
        return results.map((result, index) => {
          const value = plains.get(keyOf(items[index]!.record));
          return value === undefined ? result : { status: "fulfilled", value };
        });
      },
    };
  };
}

function onSealed(change: (sealed: Sealed, plaintext: Uint8Array) => Sealed) {
  return (cipher: Cipher): Partial<Cipher> => ({
    seal: async (plaintext, context, options) =>
      change(await cipher.seal(plaintext, context, options), plaintext),
  });
}

mutants(cipherSuite, memoryCipher, [
  { name: "ignores the account", fails: ["refuses another account"], change: loose("accountId") },
  { name: "ignores the owner", fails: ["refuses another owner"], change: loose("owner") },
  {
    name: "ignores the namespace",
    fails: ["refuses another namespace", "has a key of its own for each account and namespace"],
    change: loose("namespace"),
  },
  {
    name: "ignores the memory id",
    fails: ["refuses another memory id", "opens many in the order given, each for itself"],
    change: (cipher) => ({
      seal: (plaintext, context, options) =>
        cipher.seal(plaintext, { ...context, memoryId: "any" }, options),
      open: (items, context) =>
        cipher.open(items.map((item) => ({ ...item, memoryId: "any" })), context),
    }),
  },
  {
    name: "does not check the record's last byte",
    fails: ["refuses a record with any byte altered"],
    change: remembering((record) => record.subarray(0, -1).toHex()),
  },
  {
    name: "does not check the record's version",
    fails: ["refuses a record with any byte altered"],
    change: remembering((record) => record.subarray(1).toHex()),
  },
  {
    name: "answers the same bytes for the same text",
    fails: ["never answers the same bytes twice"],
    change(cipher) {
      const known = new Map<string, Promise<Sealed>>();
      return {
        seal: (plaintext, context, options) =>
          known.getOrInsertComputed(
            `${plaintext.toHex()} ${JSON.stringify(context)}`,
            () => cipher.seal(plaintext, context, options),
          ),
      };
    },
  },
  {
    name: "leaves the text in the record",
    fails: ["shows nothing of the text in what it answers"],
    change: onSealed((sealed, plaintext) => ({
      ...sealed,
      record: Uint8Array.of(...sealed.record, ...plaintext.subarray(0, 64)),
    })),
  },
  {
    name: "answers the bare key",
    fails: ["wraps keys: longer than a key, and no two alike"],
    change: onSealed((sealed) => ({ ...sealed, wrappedKey: sealed.wrappedKey.slice(0, 32) })),
  },
  {
    name: "names another key than the record",
    fails: ["names the key in the record"],
    change: onSealed((sealed) => ({ ...sealed, keyId: sealed.keyId.toUpperCase() + "00" })),
  },
  {
    name: "fails as a whole for one bad record",
    fails: ["opens many in the order given, each for itself"],
    change: (cipher) => ({
      async open(items, context) {
        const results = await cipher.open(items, context);
        const bad = results.find((result) => result.status === "rejected");
        return bad === undefined ? results : results.map(() => bad);
      },
    }),
  },
  {
    name: "answers in another order",
    fails: ["opens many in the order given, each for itself"],
    change: (cipher) => ({
      open: async (items, context) => (await cipher.open(items, context)).reverse(),
    }),
  },
  {
    name: "tells the text in its errors",
    fails: ["refuses a record with any byte altered"],
    change: (cipher) => ({
      open: async (items, context) =>
        (await cipher.open(items, context)).map((result) =>
          result.status === "fulfilled" ? result : {
            status: "rejected",
            reason: new SvcError("internal_error", "The user is allergic to peanuts."),
          }
        ),
    }),
  },
  {
    name: "does not rotate",
    fails: ["uses another key after a rotation and opens old records"],
    change: () => ({ rotate: () => Promise.resolve() }),
  },
  {
    name: "destroys on rotation",
    fails: ["uses another key after a rotation and opens old records"],
    change(cipher) {
      const ids = new Set<string>();
      return {
        async seal(plaintext, context, options) {
          const sealed = await cipher.seal(plaintext, context, options);
          ids.add(sealed.keyId);
          return sealed;
        },
        async rotate() {
          for (const keyId of ids) await cipher.destroy(keyId);
        },
      };
    },
  },
  {
    name: "does not destroy",
    fails: ["forgets a destroyed key"],
    change: () => ({ destroy: () => Promise.resolve() }),
  },
  {
    name: "fails on records of 1 MiB",
    fails: ["opens the empty record and one of 1 MiB"],
    change: (cipher) => ({
      seal: (plaintext, context, options) =>
        cipher.seal(plaintext.subarray(0, 1_000_000), context, options),
    }),
  },
  {
    name: "opens without the signal",
    fails: ["rejects with the reason of an aborted signal"],
    change: (cipher) => ({
      open: (items, { accountId, owner, namespace }) =>
        cipher.open(items, { accountId, owner, namespace }),
    }),
  },
  {
    name: "answers bytes that it keeps",
    fails: ["answers bytes that are the caller's to write to"],
    change: remembering((record) => record.toHex()),
  },
]);
