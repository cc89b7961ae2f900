import { deepStrictEqual, ok } from "node:assert/strict";
import type { IndexEntry, Scope, VectorStore } from "../src/interfaces/mod.ts";
import { entries, entry, unit, uuid } from "./index_entry.ts";
import { HOSTILE_NAMESPACES, law, objectId } from "./law.ts";
import type { Case } from "./suite.ts";

const A = { owner: objectId("a"), namespace: "default" };
const B = { owner: objectId("b"), namespace: "default" };
const OTHER = { owner: objectId("a"), namespace: "other" };

/** Every entry of a scope; a scan that does not end is an error. */
async function scanAll(store: VectorStore, scope: Scope): Promise<IndexEntry[]> {
  const all: IndexEntry[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.scan(scope, cursor);
    all.push(...page.entries);
    cursor = page.cursor;
    ok(all.length <= 1000, "the scan answers more than there is");
    ok(page.entries.length > 0 || cursor === undefined, "the scan does not advance");
  } while (cursor !== undefined);
  return all;
}

function idsOf(read: readonly IndexEntry[]): string[] {
  return read.map(({ id }) => id).sort();
}

export const SCOPE_CASES: readonly Case<VectorStore>[] = [
  law("gets an owner's memories in whatever namespace", async (store) => {
    await store.upsert([entry(A, 1), entry(OTHER, 2), entry(B, 3), entry(A, 4)]);
    const read = await store.get(A.owner, [uuid(2), uuid(1), uuid(3), uuid(9), uuid(1)]);
    deepStrictEqual(idsOf(read), [uuid(1), uuid(2)]);
    deepStrictEqual(read.find(({ id }) => id === uuid(2))?.namespace, "other");
    deepStrictEqual(await store.get(A.owner, []), []);
  }),
  law("scans each of 600 memories exactly once", async (store) => {
    await store.upsert(entries(A, 600));
    await store.upsert([entry(OTHER, 1000), entry(B, 1001)]);
    deepStrictEqual(idsOf(await scanAll(store, A)), idsOf(entries(A, 600)));
  }),
  law("scans in the same order again", async (store) => {
    await store.upsert(entries(A, 50).reverse());
    const first = await scanAll(store, A);
    deepStrictEqual((await scanAll(store, A)).map(({ id }) => id), first.map(({ id }) => id));
  }),
  law("counts what each scope holds, by namespace", async (store) => {
    await store.upsert([
      entry(OTHER, 1, { bytes: 7, updatedAt: 1_900_000_000_000 }),
      entry(A, 2, { bytes: 10, updatedAt: 1_800_000_000_000 }),
      entry(A, 3, { bytes: 30, updatedAt: 1_700_000_000_000 }),
      entry(B, 4),
    ]);
    deepStrictEqual(await store.scopes(A.owner), [
      { namespace: "default", count: 2, bytes: 40, lastWriteAt: 1_800_000_000_000 },
      { namespace: "other", count: 1, bytes: 7, lastWriteAt: 1_900_000_000_000 },
    ]);
    deepStrictEqual(await store.scopes(objectId("c")), []);
  }),
  law("counts a replaced memory once, with its new size", async (store) => {
    await store.upsert([entry(A, 1, { bytes: 10 })]);
    await store.upsert([entry(A, 1, { version: 2, bytes: 25 })]);
    await store.upsert([entry(A, 1, { version: 1, bytes: 99 })]);
    const [count] = await store.scopes(A.owner);
    deepStrictEqual([count?.count, count?.bytes], [1, 25]);
  }),
  law("leaves out scopes that became empty and remembers the last write", async (store) => {
    await store.upsert([
      entry(A, 1, { updatedAt: 1_700_000_000_000 }),
      entry(A, 2, { updatedAt: 1_800_000_000_000 }),
      entry(OTHER, 3),
    ]);
    await store.delete(A, [uuid(2)]);
    await store.delete(OTHER, [uuid(3)]);
    deepStrictEqual(await store.scopes(A.owner), [
      { namespace: "default", count: 1, bytes: 100, lastWriteAt: 1_800_000_000_000 },
    ]);
  }),
  law("deletes, also again and unknown ids", async (store) => {
    await store.upsert([entry(A, 1), entry(A, 2)]);
    await store.delete(A, [uuid(1), uuid(9)]);
    await store.delete(A, [uuid(1)]);
    await store.delete(A, []);
    deepStrictEqual(idsOf(await scanAll(store, A)), [uuid(2)]);
    const found = await store.search({ ...A, vector: unit(1, 1), limit: 9 });
    deepStrictEqual(idsOf(found.map((match) => match.entry)), [uuid(2)]);
    deepStrictEqual(await store.get(A.owner, [uuid(1)]), []);
  }),
  law("gets, links and deletes 2,000 memories in one call", async (store) => {
    const all = entries(A, 2000);
    const ids = all.map(({ id }) => id);
    await store.upsert([...all, entry(A, 5000)]);
    deepStrictEqual(idsOf(await store.get(A.owner, ids)), idsOf(all));
    await store.link(A, ids.map((id) => ({ id, version: 1, blobId: "blob" })));
    const linked = await store.get(A.owner, ids);
    deepStrictEqual(linked.filter(({ blobId }) => blobId === "blob").length, ids.length);
    await store.delete(A, ids);
    deepStrictEqual(idsOf(await scanAll(store, A)), [uuid(5000)]);
  }),
  law("takes a deleted memory back", async (store) => {
    await store.upsert([entry(A, 1, { version: 5, blobId: "old" })]);
    await store.delete(A, [uuid(1)]);
    await store.upsert([entry(A, 1)]);
    deepStrictEqual(await scanAll(store, A), [entry(A, 1)]);
  }),
  law("deletes in the scope named and in no other", async (store) => {
    await store.upsert([entry(A, 1), entry(OTHER, 2), entry(B, 3)]);
    await store.delete(A, [uuid(2), uuid(3)]);
    deepStrictEqual(idsOf(await scanAll(store, OTHER)), [uuid(2)]);
    deepStrictEqual(idsOf(await scanAll(store, B)), [uuid(3)]);
  }),
  law("keeps owners apart", async (store) => {
    await store.upsert([entry(A, 1), entry(B, 2)]);
    for (const [scope, number] of [[A, 1], [B, 2]] as const) {
      const found = await store.search({ ...scope, vector: unit(1), limit: 9 });
      deepStrictEqual(idsOf(found.map((match) => match.entry)), [uuid(number)]);
      deepStrictEqual(idsOf(await store.get(scope.owner, [uuid(1), uuid(2)])), [uuid(number)]);
      deepStrictEqual(idsOf(await scanAll(store, scope)), [uuid(number)]);
      deepStrictEqual((await store.scopes(scope.owner))[0]?.count, 1);
    }
  }),
  law("keeps memories of one id in several scopes", async (store) => {
    await store.upsert([entry(A, 1, { version: 3 }), entry(OTHER, 1), entry(B, 1)]);
    await store.link(OTHER, [{ id: uuid(1), version: 1, blobId: "other" }]);
    deepStrictEqual(await scanAll(store, A), [entry(A, 1, { version: 3 })]);
    deepStrictEqual(await scanAll(store, OTHER), [entry(OTHER, 1, { blobId: "other" })]);
    deepStrictEqual((await store.get(A.owner, [uuid(1)])).length, 2);
    await store.delete(A, [uuid(1)]);
    deepStrictEqual(await scanAll(store, A), []);
    deepStrictEqual(await scanAll(store, OTHER), [entry(OTHER, 1, { blobId: "other" })]);
    deepStrictEqual(await scanAll(store, B), [entry(B, 1)]);
  }),
  law("keeps hostile namespaces apart, byte for byte", async (store) => {
    const scopes = HOSTILE_NAMESPACES.map((namespace) => ({ owner: A.owner, namespace }));
    await store.upsert(scopes.map((scope, number) => entry(scope, number)));
    for (const [number, scope] of scopes.entries()) {
      const wanted = [entry(scope, number)];
      const found = await store.search({ ...scope, vector: unit(1), limit: 99 });
      deepStrictEqual(found.map((match) => match.entry), wanted);
      deepStrictEqual(await scanAll(store, scope), wanted);
    }
    const counted = await store.scopes(A.owner);
    deepStrictEqual(
      counted.map(({ namespace }) => namespace).sort(),
      [...HOSTILE_NAMESPACES].sort(),
    );
    await store.delete(scopes[0]!, scopes.map((_, number) => uuid(number)));
    deepStrictEqual((await store.scopes(A.owner)).length, scopes.length - 1);
  }),
];
