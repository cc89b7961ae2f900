import { deepStrictEqual, notDeepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { createHash } from "node:crypto";
import memory, {
  memoryAccounts,
  memoryBlobStore,
  memoryCipher,
  memoryEmbedder,
  memoryLanguageModel,
  memorySponsor,
  memoryVectorStore,
} from "../../plugins/memory/mod.ts";
import { entryOf } from "../index/fakes.ts";

const OWNER = "0x" + "a".repeat(64);
const CONTEXT = { accountId: OWNER, owner: OWNER, namespace: "default" };

Deno.test("plugin memory plays every role that has an honest default", () => {
  deepStrictEqual(memory.name, "memory");
  deepStrictEqual(
    Object.keys(memory.roles).sort(),
    ["accounts", "blobStore", "cipher", "embedder", "vectorStore"],
  );
});

Deno.test("memoryAccounts derives the account id from the owner", async () => {
  await using accounts = memoryAccounts();
  // Computed with b2sum --length=256 of "svc-local-account:" and the owner.
  const wanted = "0xe6a80976337667f373f9fe4ea60b1d1440f14a124f00199d498b91679a20c68e";
  deepStrictEqual((await accounts.admin?.create(OWNER))?.accountId, wanted);
});

Deno.test("memoryAccounts judges expiry by its clock", async () => {
  await using accounts = memoryAccounts(() => 1000);
  const account = await accounts.admin!.create(OWNER);
  const key = { label: "x", permissions: ["read"] } as const;
  const add = (digit: string, expiresAt: number) =>
    accounts.admin!.addKey(account.accountId, {
      ...key,
      publicKey: digit.repeat(64),
      expiresAt,
    });
  const { keys } = await add("7", 1001);
  deepStrictEqual([keys[0]?.createdAt, keys[0]?.expiresAt], [1000, 1001]);
  await rejects(add("8", 1000), { code: "invalid_parameter", field: "expires_at" });
});

Deno.test("memoryAccounts makes room in a full account by keys that ended", async () => {
  let now = 1000;
  await using accounts = memoryAccounts(() => now);
  const { accountId } = await accounts.admin!.create(OWNER);
  const add = (n: number, ends?: number) =>
    accounts.admin!.addKey(accountId, {
      publicKey: (n + 16).toString(16).padStart(2, "0").repeat(32),
      label: "x",
      permissions: ["read"],
      ...(ends === undefined ? {} : { expiresAt: ends }),
    });
  for (let n = 1; n <= 100; n++) await add(n, n === 1 ? 1001 : undefined);
  await rejects(add(101), { code: "invalid_parameter" });
  now = 1001;
  strictEqual((await add(101)).keys.length, 100);
});

Deno.test("memoryAccounts hands out copies", async () => {
  await using accounts = memoryAccounts();
  const account = await accounts.admin!.create(OWNER);
  (account as { active: boolean }).active = false;
  deepStrictEqual((await accounts.get(account.accountId))?.active, true);
});

Deno.test("memoryCipher unwraps its own wrapped keys and nobody else's", async () => {
  await using cipher = memoryCipher();
  await using stranger = memoryCipher();
  const plaintext = new TextEncoder().encode("hello");
  const { record, keyId, wrappedKey } = await cipher.seal(plaintext, {
    ...CONTEXT,
    memoryId: "m",
  });
  await cipher.destroy(keyId);
  const items = [{ memoryId: "m", record, wrappedKey }];
  const [own] = await cipher.open(items, CONTEXT);
  deepStrictEqual(own, { status: "fulfilled", value: plaintext });
  const [other] = await stranger.open(items, CONTEXT);
  deepStrictEqual(other?.status, "rejected");
});

Deno.test("memoryEmbedder samples long texts evenly, first and last window included", async () => {
  await using embedder = memoryEmbedder(64);
  const word = (index: number) => `word${index}`;
  const text = (count: number) => Array.from({ length: count }, (_, i) => word(i)).join(" ");
  const embed = async (...texts: string[]) => await embedder.embed(texts, { purpose: "document" });
  const [one, two, most, sampled] = await embed(text(128), text(129), text(2048), text(5120));
  deepStrictEqual([one, two, most, sampled].map((windows) => windows?.length), [1, 2, 16, 16]);
  deepStrictEqual(sampled?.[0], one?.[0]);
  const last = Array.from({ length: 128 }, (_, i) => word(5120 - 128 + i)).join(" ");
  deepStrictEqual(sampled?.at(-1), (await embed(last))[0]?.[0]);
});

Deno.test("memoryLanguageModel answers with the caller's function", async () => {
  await using model = memoryLanguageModel((messages) =>
    Promise.resolve(`heard ${messages.length}: ${messages[0]?.content}`)
  );
  deepStrictEqual(await model.chat([{ role: "user", content: "hi" }]), "heard 1: hi");
});

Deno.test("memorySponsor submits what it paid for, with the signature", async () => {
  const submitted: [string, string][] = [];
  await using sponsor = memorySponsor({
    pay: ({ kindBytes }) => ({
      bytes: kindBytes,
      digest: createHash("sha256").update(kindBytes).digest("hex"),
    }),
    submit: (bytes, signature) => void submitted.push([bytes.toHex(), signature.toHex()]),
  });
  const { digest } = await sponsor.sponsor({ sender: OWNER, kindBytes: Uint8Array.of(1, 2) });
  const signature = Uint8Array.of(9);
  deepStrictEqual(await sponsor.execute({ digest, signature }), { digest });
  deepStrictEqual(submitted, [["0102", "09"]]);
  await rejects(sponsor.execute({ digest: "other", signature }), {
    code: "sponsorship_not_found",
  });
});

Deno.test("memoryVectorStore refuses vectors of another length", async () => {
  await using store = memoryVectorStore();
  const scope = { owner: OWNER, namespace: "default" };
  await store.upsert([{
    ...scope,
    id: "00000000-0000-4000-8000-000000000001",
    version: 1,
    vectors: [Float32Array.of(1, 0)],
    payload: new Uint8Array(),
    keyId: "",
    createdAt: 1,
    updatedAt: 1,
    importance: 0.5,
    source: "remember",
    bytes: 0,
  }]);
  await rejects(store.search({ ...scope, vector: Float32Array.of(1), limit: 1 }), {
    code: "dimension_mismatch",
  });
});

Deno.test("memories that are equally near come by id", async () => {
  await using store = memoryVectorStore();
  const scope = { owner: OWNER, namespace: "default" };
  const vectors = [Float32Array.of(0.6, 0.8)];
  await store.upsert(["3", "1", "2"].map((id) => entryOf(id, vectors, scope)));
  const found = await store.search({ ...scope, vector: Float32Array.of(0.6, 0.8), limit: 2 });
  deepStrictEqual(found.map(({ entry }) => entry.id), ["1", "2"]);
  ok(found.every(({ distance }) => distance >= 0));
});

Deno.test("two memory backends share nothing", async () => {
  await using first = memoryBlobStore();
  await using second = memoryBlobStore();
  const scope = { owner: OWNER, namespace: "default" };
  const options = { ...scope, idempotencyKey: "job" };
  const ids = [
    await first.put(Uint8Array.of(1), options),
    await second.put(Uint8Array.of(1), options),
  ];
  notDeepStrictEqual(ids[0], ids[1]);
  ok(await second.get(ids[0]!, scope) === undefined);
});
