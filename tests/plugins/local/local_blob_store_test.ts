import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { localBlobStore } from "../../../plugins/local/mod.ts";
import type { BlobInfo, BlobStore, Scope } from "../../../src/interfaces/mod.ts";
import { folderForTests } from "../sealer_for_tests.ts";

const OWNER = "0x" + "a".repeat(64);
const SCOPE: Scope = { owner: OWNER, namespace: "notes" };

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

async function listed(store: BlobStore, scope: Scope = SCOPE): Promise<BlobInfo[]> {
  return await Array.fromAsync(store.list(scope));
}

Deno.test("blobs are named by scope and content, and kept once", async () => {
  await using folder = await folderForTests();
  await using store = localBlobStore({ dataDir: folder.path, now: () => 7 });
  const bytes = bytesOf("sealed");
  const id = await store.put(bytes, { ...SCOPE, idempotencyKey: "job 1" });
  const parts = [bytesOf(OWNER), bytesOf("notes"), bytes];
  const framed = parts.flatMap((part) => [0, 0, 0, part.length, ...part]);
  assert.equal(id, hash("sha256", Uint8Array.from(framed), "base64url"));
  assert.match(id, /^[\w-]{43}$/);
  assert.equal(await store.put(bytes, { ...SCOPE, idempotencyKey: "job 2" }), id);
  assert.equal(await store.put(bytesOf("other"), { ...SCOPE, idempotencyKey: "job 1" }), id);
  assert.deepEqual(await store.get(id, SCOPE), bytes);
  assert.deepEqual(await listed(store), [{ blobId: id, bytes: 6, createdAt: 7 }]);
  assert.equal(await store.get("unknown", SCOPE), undefined);
});

Deno.test("blobs survive a reopen; bytes are those of the call", async () => {
  await using folder = await folderForTests();
  const big = new Uint8Array(2 * 1024 * 1024 + 100);
  for (let at = 0; at < big.length; at++) big[at] = at * 31;
  const expected = big.slice();
  const first = localBlobStore({ dataDir: folder.path });
  const put = first.put(Buffer.from(big.buffer), { ...SCOPE, idempotencyKey: "big" });
  big.fill(0);
  await first[Symbol.asyncDispose]();
  const id = await put;
  await using store = localBlobStore({ dataDir: folder.path });
  assert.deepEqual(await store.get(id, SCOPE), expected);
  assert.equal(await store.put(bytesOf("x"), { ...SCOPE, idempotencyKey: "big" }), id);
});

Deno.test("listing pages, newest first, and bears deletes on the way", async () => {
  await using folder = await folderForTests();
  await using store = localBlobStore({ dataDir: folder.path });
  const ids = await Promise.all(
    Array.from(
      { length: 600 },
      (_, n) => store.put(bytesOf(`blob ${n}`), { ...SCOPE, idempotencyKey: `${n}` }),
    ),
  );
  assert.deepEqual((await listed(store)).map((blob) => blob.blobId), ids.toReversed());
  const seen: string[] = [];
  for await (const { blobId } of store.list(SCOPE)) {
    seen.push(blobId);
    await store.delete!(blobId, SCOPE);
  }
  assert.deepEqual(seen, ids.toReversed());
  assert.deepEqual(await listed(store), []);
});

Deno.test("a deleted blob is gone with its idempotency keys", async () => {
  await using folder = await folderForTests();
  await using store = localBlobStore({ dataDir: folder.path });
  const id = await store.put(bytesOf("one"), { ...SCOPE, idempotencyKey: "k" });
  assert.equal(await store.delete!(id, { ...SCOPE, namespace: "other" }), true);
  assert.deepEqual(await store.get(id, SCOPE), bytesOf("one"));
  assert.equal(await store.delete!(id, SCOPE), true);
  assert.equal(await store.get(id, SCOPE), undefined);
  assert.equal(await store.delete!(id, SCOPE), true);
  const again = await store.put(bytesOf("two"), { ...SCOPE, idempotencyKey: "k" });
  assert.notEqual(again, id);
});

Deno.test("scopes stay apart, however they are named", async () => {
  await using folder = await folderForTests();
  await using store = localBlobStore({ dataDir: folder.path });
  const names = ["a", "a\0b", "a\0", "'; drop table blob; --", "é", "e\u0301", "", "🦕"]
    .concat("x".repeat(50_000));
  const scopes = names.flatMap((namespace) => [
    { owner: OWNER, namespace },
    { owner: OWNER + namespace, namespace: "" },
    { owner: "0xb", namespace },
  ]).filter((scope, n, all) =>
    all.findIndex((s) => s.owner === scope.owner && s.namespace === scope.namespace) === n
  );
  const bytes = bytesOf("same");
  const ids = await Promise.all(
    scopes.map((scope) => store.put(bytes, { ...scope, idempotencyKey: "same" })),
  );
  assert.equal(new Set(ids).size, scopes.length);
  for (const [n, scope] of scopes.entries()) {
    assert.deepEqual((await listed(store, scope)).map((blob) => blob.blobId), [ids[n]]);
    const other = scopes[(n + 1) % scopes.length]!;
    assert.equal(await store.get(ids[n]!, other), undefined);
  }
});

Deno.test("aborted calls reject with the reason, calls of a closed store are refused", async () => {
  await using folder = await folderForTests();
  const store = localBlobStore({ dataDir: folder.path });
  const reason = new Error("enough");
  const calls = (options: { signal?: AbortSignal }) => [
    () => store.put(new Uint8Array(1), { ...SCOPE, idempotencyKey: "k", ...options }),
    () => store.get("x", SCOPE, options),
    () => Array.fromAsync(store.list(SCOPE, options)),
    () => store.delete!("x", SCOPE, options),
  ];
  for (const call of calls({ signal: AbortSignal.abort(reason) })) {
    await assert.rejects(call, (error) => error === reason);
  }
  await store[Symbol.asyncDispose]();
  for (const call of calls({})) await assert.rejects(call, { code: "storage_unavailable" });
});
