import { deepStrictEqual, notDeepStrictEqual, ok } from "node:assert/strict";
import { SvcError } from "../src/errors.ts";
import type { Cipher, SealContext, Sealed, SealedItem } from "../src/interfaces/mod.ts";
import { abortLaw, law, objectId } from "./law.ts";
import type { Suite } from "./suite.ts";

const CONTEXT: SealContext = {
  accountId: objectId("1"),
  owner: objectId("a"),
  namespace: "default",
  memoryId: "11111111-1111-4111-8111-111111111111",
};
const OTHER_MEMORY = "22222222-2222-4222-8222-222222222222";
const TEXT = "The user is allergic to peanuts.";
const PLAIN = new TextEncoder().encode(TEXT);

/** The same context but for one member. */
const ELSEWHERE: Readonly<Record<string, SealContext>> = {
  account: { ...CONTEXT, accountId: objectId("2") },
  owner: { ...CONTEXT, owner: objectId("b") },
  namespace: { ...CONTEXT, namespace: "Default" },
  "memory id": { ...CONTEXT, memoryId: OTHER_MEMORY },
};

function settle(
  cipher: Cipher,
  items: readonly SealedItem[],
  context: SealContext = CONTEXT,
): Promise<PromiseSettledResult<Uint8Array>[]> {
  const { accountId, owner, namespace } = context;
  return cipher.open(items, { accountId, owner, namespace });
}

function withKey({ record, wrappedKey }: Sealed, memoryId = CONTEXT.memoryId): SealedItem {
  return { memoryId, record, wrappedKey };
}

function withoutKey({ record }: Sealed, memoryId = CONTEXT.memoryId): SealedItem {
  return { memoryId, record };
}

async function opens(
  cipher: Cipher,
  item: SealedItem,
  plain: Uint8Array = PLAIN,
  context: SealContext = CONTEXT,
): Promise<void> {
  const [result] = await settle(cipher, [item], context);
  if (result?.status !== "fulfilled") throw result?.reason ?? new Error("no result");
  // Wrapped anew, because an implementation may answer a subclass.
  deepStrictEqual(new Uint8Array(result.value), plain);
}

async function refuses(
  cipher: Cipher,
  items: readonly SealedItem[],
  what: string,
  context: SealContext = CONTEXT,
): Promise<void> {
  const results = await settle(cipher, items, context);
  deepStrictEqual(results.length, items.length);
  for (const result of results) {
    ok(result.status === "rejected", `opened with ${what}`);
    ok(result.reason instanceof SvcError, `${what}: the reason is no SvcError`);
    ok(!result.reason.message.includes(TEXT), "the reason tells the text");
  }
}

/** The bytes with one bit changed, for positions spread over all of them, ends included. */
function flips(bytes: Uint8Array): Uint8Array[] {
  const step = Math.max(1, Math.floor(bytes.length / 24));
  return [...bytes.keys()]
    .filter((at) => at % step === 0 || at < 32 || at >= bytes.length - 2)
    .map((at) => bytes.with(at, bytes[at]! ^ (1 << at % 8)));
}

function holds(bytes: Uint8Array, part: Uint8Array): boolean {
  return bytes.toHex().includes(part.toHex());
}

/**
 * What every {@linkcode Cipher} promises. Every case makes its own cipher, which may know keys of
 * earlier ones. Where `open` needs a credential, wrap the cipher so that it is given one.
 */
export const cipherSuite: Suite<Cipher> = {
  name: "Cipher",
  cases: [
    law("opens what it sealed", async (cipher) => {
      const sealed = await cipher.seal(PLAIN, CONTEXT);
      await opens(cipher, withoutKey(sealed));
      await opens(cipher, withKey(sealed));
    }),
    law("opens the empty record and one of 1 MiB", async (cipher) => {
      const large = Uint8Array.from({ length: 1_048_576 }, (_, index) => (index * 17) & 255);
      for (const plain of [new Uint8Array(), large]) {
        const sealed = await cipher.seal(plain, CONTEXT);
        const [result] = await settle(cipher, [withoutKey(sealed)]);
        ok(result?.status === "fulfilled");
        deepStrictEqual(result.value.length, plain.length);
        ok(result.value.every((byte, index) => byte === plain[index]), "a byte changed");
      }
    }),
    law("answers bytes that are the caller's to write to", async (cipher) => {
      const sealed = await cipher.seal(PLAIN, CONTEXT);
      for (let times = 0; times < 2; times++) {
        const [result] = await settle(cipher, [withoutKey(sealed)]);
        ok(result?.status === "fulfilled");
        deepStrictEqual(result.value, PLAIN);
        result.value.fill(0);
      }
    }),
    law("never answers the same bytes twice", async (cipher) => {
      const records = await Promise.all(
        Array.from({ length: 20 }, async () => (await cipher.seal(PLAIN, CONTEXT)).record.toHex()),
      );
      deepStrictEqual(new Set(records).size, records.length);
    }),
    law("shows nothing of the text in what it answers", async (cipher) => {
      const sealed = await cipher.seal(PLAIN, CONTEXT);
      for (let at = 0; at + 6 <= PLAIN.length; at++) {
        const part = PLAIN.subarray(at, at + 6);
        ok(!holds(sealed.record, part), "the record holds a part of the text");
        ok(!holds(sealed.wrappedKey, part), "the wrapped key holds a part of the text");
      }
    }),
    law("names the key in the record", async (cipher) => {
      const { record, keyId } = await cipher.seal(PLAIN, CONTEXT);
      const header = record.subarray(1, 1 + keyId.length / 2);
      deepStrictEqual([keyId.length, header.toHex()], [32, keyId]);
    }),
    law("wraps keys: longer than a key, and no two alike", async (cipher) => {
      const here = await cipher.seal(PLAIN, CONTEXT);
      const there = await cipher.seal(PLAIN, ELSEWHERE.namespace!);
      // 32 bytes of key and the 16 of a tag at least: a bare key is no wrapped key.
      ok(here.wrappedKey.length >= 48, "too short for a wrapped key");
      notDeepStrictEqual(here.wrappedKey, there.wrappedKey);
      ok(!holds(here.record, here.wrappedKey), "the record holds the wrapped key");
    }),
    law("has a key of its own for each account and namespace", async (cipher) => {
      const ids = [(await cipher.seal(PLAIN, CONTEXT)).keyId];
      for (const member of ["account", "owner", "namespace"]) {
        ids.push((await cipher.seal(PLAIN, ELSEWHERE[member]!)).keyId);
      }
      deepStrictEqual(new Set(ids).size, ids.length);
    }),
    ...Object.entries(ELSEWHERE).map(([member, elsewhere]) =>
      law(`refuses another ${member}`, async (cipher: Cipher) => {
        // The other context has a key too, so that what is refused is the record, not a stranger.
        await cipher.seal(PLAIN, elsewhere);
        const sealed = await cipher.seal(PLAIN, CONTEXT);
        const { memoryId } = elsewhere;
        const items = [withoutKey(sealed, memoryId), withKey(sealed, memoryId)];
        await refuses(cipher, items, `another ${member}`, elsewhere);
      })
    ),
    law("refuses a record with any byte altered", async (cipher) => {
      const sealed = await cipher.seal(PLAIN, CONTEXT);
      const altered = flips(sealed.record);
      const items = altered.flatMap((record) => [
        withoutKey({ ...sealed, record }),
        withKey({ ...sealed, record }),
      ]);
      await refuses(cipher, items, "an altered byte");
      await opens(cipher, withoutKey(sealed));
    }),
    law("refuses a record cut short, extended, or empty", async (cipher) => {
      const sealed = await cipher.seal(PLAIN, CONTEXT);
      const { record } = sealed;
      const broken = [0, 1, 16, 17, 28, record.length - 1].map((end) => record.slice(0, end));
      broken.push(Uint8Array.of(...record, 0));
      await refuses(cipher, broken.map((item) => withKey({ ...sealed, record: item })), "a cut");
    }),
    law("opens many in the order given, each for itself", async (cipher) => {
      const plains = Array.from({ length: 50 }, (_, index) => Uint8Array.of(index, 7));
      const items = await Promise.all(plains.map(async (plain, index) => {
        const memoryId = `memory-${index}`;
        const sealed = await cipher.seal(plain, { ...CONTEXT, memoryId });
        return withoutKey(sealed, index % 7 === 3 ? "another" : memoryId);
      }));
      const results = await settle(cipher, items);
      deepStrictEqual(
        results.map((result) => result.status === "fulfilled" ? [...result.value] : undefined),
        plains.map((plain, index) => index % 7 === 3 ? undefined : [...plain]),
      );
      deepStrictEqual(await settle(cipher, []), []);
    }),
    law("opens all that was sealed at once in a new scope", async (cipher) => {
      const scope = { ...CONTEXT, namespace: "never used before" };
      const sealed = await Promise.all(Array.from({ length: 10 }, () => cipher.seal(PLAIN, scope)));
      for (const one of sealed) await opens(cipher, withoutKey(one), PLAIN, scope);
    }),
    law("uses another key after a rotation and opens old records", async (cipher) => {
      const before = await cipher.seal(PLAIN, CONTEXT);
      await cipher.rotate(CONTEXT.accountId);
      const after = await cipher.seal(PLAIN, CONTEXT);
      notDeepStrictEqual(after.keyId, before.keyId);
      await opens(cipher, withoutKey(before));
      await opens(cipher, withoutKey(after));
    }),
    law("rotates the account named and no other", async (cipher) => {
      const other = ELSEWHERE.account!;
      const before = await cipher.seal(PLAIN, other);
      await cipher.rotate(CONTEXT.accountId);
      deepStrictEqual((await cipher.seal(PLAIN, other)).keyId, before.keyId);
    }),
    law("forgets a destroyed key", async (cipher) => {
      const lost = await cipher.seal(PLAIN, CONTEXT);
      const kept = await cipher.seal(PLAIN, ELSEWHERE.namespace!);
      await cipher.destroy(lost.keyId);
      await cipher.destroy(lost.keyId);
      await refuses(cipher, [withoutKey(lost)], "a destroyed key");
      await opens(cipher, withoutKey(kept), PLAIN, ELSEWHERE.namespace!);
      const next = await cipher.seal(PLAIN, CONTEXT);
      notDeepStrictEqual(next.keyId, lost.keyId);
      await opens(cipher, withoutKey(next));
    }),
    law("refuses an altered wrapped key once the key is forgotten", async (cipher) => {
      const lost = await cipher.seal(PLAIN, CONTEXT);
      await cipher.destroy(lost.keyId);
      const items = flips(lost.wrappedKey).map((wrappedKey) => withKey({ ...lost, wrappedKey }));
      await refuses(cipher, items, "an altered wrapped key");
    }),
    abortLaw<Cipher>((cipher, signal) => ({
      seal: () => cipher.seal(PLAIN, CONTEXT, { signal }),
      open: () => cipher.open([], { ...CONTEXT, signal }),
    })),
  ],
};
