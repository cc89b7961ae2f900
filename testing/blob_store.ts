import { deepStrictEqual, match, ok } from "node:assert/strict";
import type { BlobInfo, BlobStore, Scope } from "../src/interfaces/mod.ts";
import { abortLaw, type Calls, disposalLaw, HOSTILE_NAMESPACES, law, lawOf } from "./law.ts";
import { objectId } from "./law.ts";
import type { Suite } from "./suite.ts";

const A = { owner: objectId("a"), namespace: "default" };
const OTHERS: readonly Scope[] = [
  { owner: objectId("b"), namespace: "default" },
  { owner: objectId("a"), namespace: "other" },
];

/** Bytes of some length, others for every number below 65,536: equal ones may share an id. */
function content(number: number, length = 40): Uint8Array {
  const bytes = Uint8Array.from({ length }, (_, index) => (index * 31 + (index >> 8)) & 255);
  bytes.set([number & 255, number >> 8]);
  return bytes;
}

function put(store: BlobStore, scope: Scope, number: number): Promise<string> {
  return store.put(content(number), { ...scope, idempotencyKey: `job-${number}` });
}

async function listed(store: BlobStore, scope: Scope): Promise<BlobInfo[]> {
  return await Array.fromAsync(store.list(scope));
}

async function listedIds(store: BlobStore, scope: Scope): Promise<string[]> {
  return (await listed(store, scope)).map(({ blobId }) => blobId);
}

const calls: Calls<BlobStore> = (store, signal) => ({
  put: () => store.put(content(1), { ...A, idempotencyKey: "job", signal }),
  get: () => store.get("blob", A, { signal }),
  list: () => Array.fromAsync(store.list(A, { signal })),
  ...(store.delete === undefined
    ? {}
    : { delete: () => store.delete?.("blob", A, { signal }) ?? Promise.resolve() }),
});

/** What every {@linkcode BlobStore} promises. Every case makes its own store, empty. */
export const blobStoreSuite: Suite<BlobStore> = {
  name: "BlobStore",
  cases: [
    law("has nothing in an empty scope", async (store) => {
      deepStrictEqual(await listed(store, A), []);
      deepStrictEqual(await store.get("unknown-blob", A), undefined);
    }),
    law("keeps bytes exactly", async (store) => {
      const blobs = [
        Uint8Array.of(0),
        Uint8Array.from({ length: 256 }, (_, index) => index),
        content(3, 70_000),
      ];
      for (const [number, bytes] of blobs.entries()) {
        const blobId = await store.put(bytes, { ...A, idempotencyKey: `job-${number}` });
        deepStrictEqual(await store.get(blobId, A), bytes);
      }
      const sizes = (await listed(store, A)).map(({ bytes }) => bytes);
      deepStrictEqual(sizes.sort((a, b) => a - b), [1, 256, 70_000]);
    }),
    law("keeps 1.5 MiB exactly", async (store) => {
      const bytes = content(1, 1_572_864);
      const blobId = await store.put(bytes, { ...A, idempotencyKey: "large" });
      const read = await store.get(blobId, A);
      deepStrictEqual(read?.length, bytes.length);
      ok(read.every((byte, index) => byte === bytes[index]), "a byte changed");
      deepStrictEqual((await listed(store, A)).map((blob) => blob.bytes), [bytes.length]);
    }),
    law("keeps its own copy of the caller's bytes", async (store) => {
      const mine = content(1);
      const blobId = await store.put(mine, { ...A, idempotencyKey: "job" });
      mine.fill(9);
      const read = await store.get(blobId, A);
      deepStrictEqual(read, content(1));
      read.fill(9);
      deepStrictEqual(await store.get(blobId, A), content(1));
    }),
    law("keeps the bytes of a view, not those around it", async (store) => {
      const around = content(1, 200);
      const view = around.subarray(50, 90);
      const blobId = await store.put(view, { ...A, idempotencyKey: "view" });
      deepStrictEqual(await store.get(blobId, A), view.slice());
    }),
    law("names blobs by 1 to 128 letters, digits, - and _", async (store) => {
      for (let number = 0; number < 20; number++) {
        match(await put(store, A, number), /^[A-Za-z0-9_-]{1,128}$/);
      }
    }),
    law("stores once for one idempotency key", async (store) => {
      const first = await put(store, A, 1);
      await put(store, A, 2);
      deepStrictEqual(await put(store, A, 1), first);
      deepStrictEqual((await listedIds(store, A)).filter((id) => id === first), [first]);
      deepStrictEqual((await listed(store, A)).length, 2);
    }),
    law("answers the first blob when other bytes come with a known key", async (store) => {
      const first = await store.put(content(1), { ...A, idempotencyKey: "job" });
      deepStrictEqual(await store.put(content(2), { ...A, idempotencyKey: "job" }), first);
      deepStrictEqual(await store.get(first, A), content(1));
      deepStrictEqual(await listedIds(store, A), [first]);
    }),
    law("stores once for 10 concurrent puts with one key", async (store) => {
      const ids = await Promise.all(Array.from({ length: 10 }, () => put(store, A, 1)));
      deepStrictEqual(new Set(ids).size, 1);
      deepStrictEqual(await listedIds(store, A), [ids[0]]);
    }),
    law("lists newest first", async (store) => {
      const ids: string[] = [];
      for (let number = 0; number < 5; number++) ids.push(await put(store, A, number));
      const blobs = await listed(store, A);
      deepStrictEqual(blobs.map(({ blobId }) => blobId), ids.reverse());
      const times = blobs.flatMap(({ createdAt }) => createdAt ?? []);
      deepStrictEqual(times, times.toSorted((a, b) => b - a));
    }),
    law("lists each of 300 blobs exactly once", async (store) => {
      const ids = await Promise.all(Array.from({ length: 300 }, (_, n) => put(store, A, n)));
      const found = await listedIds(store, A);
      deepStrictEqual(found.length, 300);
      deepStrictEqual(new Set(found), new Set(ids));
    }),
    law("lists again what the reader of an earlier list left", async (store) => {
      for (let number = 0; number < 3; number++) await put(store, A, number);
      for await (const blob of store.list(A)) {
        deepStrictEqual(blob.bytes, 40);
        break;
      }
      deepStrictEqual((await listed(store, A)).length, 3);
    }),
    law("keeps scopes apart", async (store) => {
      const blobId = await put(store, A, 1);
      for (const [index, other] of OTHERS.entries()) {
        deepStrictEqual(await store.get(blobId, other), undefined);
        deepStrictEqual(await listed(store, other), []);
        const own = await put(store, other, 100 + index);
        deepStrictEqual(await listedIds(store, other), [own]);
        deepStrictEqual(await store.get(own, A), undefined);
      }
      deepStrictEqual(await listedIds(store, A), [blobId]);
    }),
    law("keeps equal bytes for each scope that stored them", async (store) => {
      const scopes = [A, ...OTHERS];
      const ids = await Promise.all(
        scopes.map((scope, number) =>
          store.put(content(1), { ...scope, idempotencyKey: `job-${number}` })
        ),
      );
      for (const [number, scope] of scopes.entries()) {
        deepStrictEqual(await store.get(ids[number]!, scope), content(1));
        deepStrictEqual(await listedIds(store, scope), [ids[number]]);
        await store.delete?.(ids[number]!, scope);
      }
    }),
    law("keeps hostile namespaces apart, byte for byte", async (store) => {
      const scopes = HOSTILE_NAMESPACES.map((namespace) => ({ owner: A.owner, namespace }));
      const ids = await Promise.all(scopes.map((scope, number) => put(store, scope, number)));
      for (const [number, scope] of scopes.entries()) {
        deepStrictEqual(await listedIds(store, scope), [ids[number]], scope.namespace);
        deepStrictEqual(await store.get(ids[number]!, scope), content(number));
      }
    }),
    lawOf(
      "deletes a blob, also again and unknown ones",
      "delete",
      (store: BlobStore) => store.delete?.bind(store),
      async (remove, store) => {
        const [first, second] = [await put(store, A, 1), await put(store, A, 2)];
        deepStrictEqual(await remove(first, A), store.erases === true);
        await remove(first, A);
        await remove("unknown-blob", A);
        deepStrictEqual(await store.get(first, A), undefined);
        deepStrictEqual(await listedIds(store, A), [second]);
      },
    ),
    lawOf(
      "deletes in the scope named and in no other",
      "delete",
      (store: BlobStore) => store.delete?.bind(store),
      async (remove, store) => {
        const blobId = await put(store, A, 1);
        for (const other of OTHERS) await remove(blobId, other);
        deepStrictEqual(await store.get(blobId, A), content(1));
        deepStrictEqual(await listedIds(store, A), [blobId]);
      },
    ),
    abortLaw<BlobStore>(calls),
    disposalLaw<BlobStore>("storage_unavailable", calls),
  ],
};
