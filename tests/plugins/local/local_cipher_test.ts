import assert from "node:assert/strict";
import { localCipher } from "../../../plugins/local/mod.ts";
import { SvcError } from "../../../src/errors.ts";
import type { SealContext, Sealed } from "../../../src/interfaces/mod.ts";
import { KeysForTests, sealerForTests } from "../sealer_for_tests.ts";

const CONTEXT: SealContext = {
  accountId: "0x" + "c".repeat(64),
  owner: "0x" + "a".repeat(64),
  namespace: "notes",
  memoryId: "00000000-0000-4000-8000-000000000001",
};
const { memoryId } = CONTEXT;
const TEXT = new TextEncoder().encode("I moved to Lisbon");

function cipherWith(keys: KeysForTests, now: () => number = () => 0, key = "relayer key") {
  return localCipher({ sealer: sealerForTests(key), keys, now });
}

function isRefused(result: PromiseSettledResult<Uint8Array>): boolean {
  return result.status === "rejected" && result.reason instanceof SvcError &&
    result.reason.code === "storage_unavailable" && !result.reason.retryable &&
    result.reason.message === "The record cannot be opened";
}

Deno.test("what is sealed opens, small and large, and never repeats", async () => {
  await using cipher = cipherWith(new KeysForTests());
  assert.equal(cipher.needsCredential, false);
  for (const size of [0, 1, 1000, 64 * 1024, 64 * 1024 + 1, 300_000]) {
    const plaintext = new Uint8Array(size).map((_, at) => at * 7);
    const one = await cipher.seal(plaintext, CONTEXT);
    const two = await cipher.seal(plaintext, CONTEXT);
    assert.equal(one.record.length, size + 45);
    assert.equal(one.record[0], 1);
    assert.equal(one.record.subarray(1, 17).toHex(), one.keyId);
    assert.notDeepEqual(one.record, two.record);
    const items = [one, two].map(({ record }) => ({ memoryId, record }));
    assert.deepEqual(
      await cipher.open(items, CONTEXT),
      items.map(() => ({ status: "fulfilled", value: plaintext })),
    );
  }
});

Deno.test("records of one call open whatever their memory ids and data keys are", async () => {
  await using cipher = cipherWith(new KeysForTests());
  const ids = [memoryId, "", "a", "가", memoryId.replaceAll("0", "é"), "b", `${memoryId}1`, "b"];
  const sealed = await Promise.all(ids.map(async (id, i) => {
    if (i === 4) await cipher.rotate(CONTEXT.accountId);
    const plaintext = TEXT.subarray(0, i);
    return { ...await cipher.seal(plaintext, { ...CONTEXT, memoryId: id }), memoryId: id };
  }));
  const results = await cipher.open(sealed, CONTEXT);
  results.forEach((result, i) => {
    assert.deepEqual(result, { status: "fulfilled", value: TEXT.subarray(0, i) });
  });
  const moved = sealed.map((item, i) => ({ ...item, memoryId: `${ids.at(i - 1)}x` }));
  assert.ok((await cipher.open(moved, CONTEXT)).every(isRefused));
});

Deno.test("the key is saved, wrapped, before its first use", async () => {
  const keys = new KeysForTests();
  await using cipher = cipherWith(keys);
  const { keyId, wrappedKey } = await cipher.seal(TEXT, CONTEXT);
  const [kept] = keys.kept;
  assert.equal(keys.kept.length, 1);
  assert.deepEqual([kept?.keyId, kept?.generation, kept?.namespace], [keyId, 1, "notes"]);
  assert.equal(kept?.wrapped.length, 61);
  assert.ok(wrappedKey.length < 200);
  assert.equal((await cipher.seal(TEXT, CONTEXT)).keyId, keyId);
  const other = await cipher.seal(TEXT, { ...CONTEXT, namespace: "other" });
  assert.notEqual(other.keyId, keyId);
});

Deno.test("a record opens only for its account, scope and memory id", async () => {
  await using cipher = cipherWith(new KeysForTests());
  const { record, wrappedKey } = await cipher.seal(TEXT, CONTEXT);
  const others: Partial<SealContext>[] = [
    { accountId: "0x" + "d".repeat(64) },
    { owner: "0x" + "b".repeat(64) },
    { namespace: "notes " },
    { owner: CONTEXT.owner + "n", namespace: "otes" },
    { memoryId: "00000000-0000-4000-8000-000000000002" },
    { memoryId: "x".repeat(5000) },
  ];
  await using cold = cipherWith(new KeysForTests());
  for (const other of others) {
    const context = { ...CONTEXT, ...other };
    for (const opener of [cipher, cold]) {
      const item = { memoryId: context.memoryId, record, wrappedKey };
      const [result] = await opener.open([item], context);
      assert.ok(isRefused(result!), JSON.stringify(other));
    }
  }
});

Deno.test("records open again and again, whoever else asks with their key", async () => {
  let now = 0;
  await using cipher = cipherWith(new KeysForTests(), () => now);
  // More than the keys of memories that are kept.
  const items = await Promise.all(Array.from({ length: 300 }, async (_, n) => {
    const id = `memory ${n}`;
    const { record } = await cipher.seal(TEXT.subarray(n % 9), { ...CONTEXT, memoryId: id });
    return { memoryId: id, record };
  }));
  for (let round = 0; round < 3; round++) {
    const part = round === 1 ? items.slice(0, 10) : items;
    const opened = await cipher.open(part, CONTEXT);
    opened.forEach((result, n) => {
      assert.deepEqual(result, { status: "fulfilled", value: TEXT.subarray(n % 9) });
    });
    const swapped = part.map(({ record }, n) => ({ memoryId: part.at(n - 1)!.memoryId, record }));
    assert.ok((await cipher.open(swapped, CONTEXT)).every(isRefused));
    assert.ok((await cipher.open(part, { ...CONTEXT, namespace: "others" })).every(isRefused));
    now += 5 * 60_000;
  }
});

Deno.test("altered bytes are refused, and only those", async () => {
  await using cipher = cipherWith(new KeysForTests());
  const { record } = await cipher.seal(TEXT, CONTEXT);
  const large = (await cipher.seal(new Uint8Array(70_000), CONTEXT)).record;
  const altered = (from: Uint8Array, at: number) => {
    const copy = from.slice();
    copy[at]! ^= 1;
    return copy;
  };
  const bad = [
    ...record.keys().map((at) => altered(record, at)),
    altered(large, 50_000),
    record.subarray(0, 44),
    record.subarray(0, record.length - 1),
    new Uint8Array(0),
  ];
  const items = [...bad, record].map((record) => ({ memoryId, record }));
  const results = await cipher.open(items, CONTEXT);
  assert.ok(results.slice(0, -1).every(isRefused));
  assert.deepEqual(results.at(-1), { status: "fulfilled", value: TEXT });
});

Deno.test("a fresh relayer with the same key opens records by what they carry", async () => {
  let sealed: Sealed;
  {
    const keys = new KeysForTests();
    await using cipher = cipherWith(keys);
    await cipher.rotate(CONTEXT.accountId);
    sealed = await cipher.seal(TEXT, CONTEXT);
  }
  const { record, wrappedKey, keyId } = sealed;
  const fresh = new KeysForTests();
  await using cipher = cipherWith(fresh);
  const [without] = await cipher.open([{ memoryId, record }], CONTEXT);
  assert.ok(isRefused(without!));
  const [opened] = await cipher.open([{ memoryId, record, wrappedKey }], CONTEXT);
  assert.deepEqual(opened, { status: "fulfilled", value: TEXT });
  assert.deepEqual([fresh.kept[0]?.keyId, fresh.kept[0]?.generation], [keyId, 2]);
  const [known] = await cipher.open([{ memoryId, record }], CONTEXT);
  assert.equal(known?.status, "fulfilled");

  await using stranger = cipherWith(new KeysForTests(), () => 0, "another relayer key");
  const damaged = wrappedKey.map((byte, at) => at === 30 ? byte ^ 1 : byte);
  const other = (await cipher.seal(TEXT, CONTEXT)).wrappedKey;
  await using cold = cipherWith(new KeysForTests());
  for (
    const [opener, carried] of [
      [stranger, wrappedKey],
      [cold, damaged],
      [cold, other],
      [cold, wrappedKey.subarray(0, 10)],
      [cold, new Uint8Array(0)],
    ] as const
  ) {
    const item = { memoryId, record, wrappedKey: carried };
    assert.ok(isRefused((await opener.open([item], CONTEXT))[0]!));
  }
});

Deno.test("rotation changes the key of later records only", async () => {
  const keys = new KeysForTests();
  await using cipher = cipherWith(keys);
  const before = await cipher.seal(TEXT, CONTEXT);
  await cipher.rotate(CONTEXT.accountId);
  const after = await cipher.seal(TEXT, CONTEXT);
  assert.notEqual(after.keyId, before.keyId);
  assert.deepEqual(keys.kept.map((key) => key.generation), [1, 2]);
  const items = [before, after].map(({ record }) => ({ memoryId, record }));
  const results = await cipher.open(items, CONTEXT);
  assert.ok(results.every((result) => result.status === "fulfilled"));
});

Deno.test("a destroyed key opens nothing, from the cache neither", async () => {
  await using cipher = cipherWith(new KeysForTests());
  const { record, keyId } = await cipher.seal(TEXT, CONTEXT);
  const [opened] = await cipher.open([{ memoryId, record }], CONTEXT);
  assert.equal(opened?.status, "fulfilled");
  await cipher.destroy(keyId);
  assert.ok(isRefused((await cipher.open([{ memoryId, record }], CONTEXT))[0]!));
  assert.notEqual((await cipher.seal(TEXT, CONTEXT)).keyId, keyId);
});

Deno.test("unwrapped keys are kept for five minutes, a thousand at most", async () => {
  const keys = new KeysForTests();
  let now = 0;
  let unwrapped = 0;
  const sealer = sealerForTests();
  await using cipher = localCipher({
    keys,
    now: () => now,
    sealer: {
      ...sealer,
      open: (bytes, additionalData) => {
        unwrapped++;
        return sealer.open(bytes, additionalData);
      },
    },
  });
  const { record } = await cipher.seal(TEXT, CONTEXT);
  const open = async () => {
    const [result] = await cipher.open([{ memoryId, record }], CONTEXT);
    assert.equal(result?.status, "fulfilled");
    return unwrapped;
  };
  now = 5 * 60_000 - 1;
  assert.equal(await open(), 0);
  now = 5 * 60_000;
  assert.equal(await open(), 1);
  for (let n = 0; n < 999; n++) await cipher.seal(TEXT, { ...CONTEXT, namespace: `n${n}` });
  assert.equal(await open(), 1);
  for (let n = 0; n < 1000; n++) await cipher.seal(TEXT, { ...CONTEXT, namespace: `m${n}` });
  assert.equal(await open(), 2);
});

Deno.test("aborted calls reject with the reason, calls of a closed cipher are refused", async () => {
  const cipher = cipherWith(new KeysForTests());
  const reason = new Error("enough");
  const signal = AbortSignal.abort(reason);
  await assert.rejects(cipher.seal(TEXT, CONTEXT, { signal }), (error) => error === reason);
  await assert.rejects(cipher.open([], { ...CONTEXT, signal }), (error) => error === reason);
  await cipher[Symbol.asyncDispose]();
  for (
    const call of [
      () => cipher.seal(TEXT, CONTEXT),
      () => cipher.open([], CONTEXT),
      () => cipher.rotate("0x"),
      () => cipher.destroy("k"),
    ]
  ) await assert.rejects(call, { code: "storage_unavailable" });
});
