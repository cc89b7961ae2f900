import { deepStrictEqual, ok } from "node:assert/strict";
import type { IndexEntry, VectorStore } from "../src/interfaces/mod.ts";
import { entry, sameEntry, unit, uuid } from "./index_entry.ts";
import { law, objectId } from "./law.ts";
import type { Case } from "./suite.ts";

const A = { owner: objectId("a"), namespace: "default" };

async function one(store: VectorStore): Promise<IndexEntry | undefined> {
  return (await store.get(A.owner, [uuid(1)]))[0];
}

/** The same entry by every way there is to read one. */
async function everyReading(store: VectorStore): Promise<(IndexEntry | undefined)[]> {
  const found = await store.search({ ...A, vector: unit(1), limit: 1 });
  return [await one(store), (await store.scan(A)).entries[0], found[0]?.entry];
}

function version(number: number, rest: Partial<IndexEntry> = {}): IndexEntry {
  return entry(A, 1, { version: number, vectors: [unit(1, number)], bytes: number, ...rest });
}

const COMPLETE = entry(A, 1, {
  version: 7,
  vectors: [unit(1, 2, 3), unit(-0.25, 1e-7)],
  payload: Uint8Array.from({ length: 16 * 1024 }, (_, index) => index * 7 & 255),
  blobId: "Blob_id-1",
  createdAt: 1_700_000_000_001,
  updatedAt: 1_800_000_000_002,
  occurredAt: -86_400_000,
  expiresAt: 4_102_444_800_003,
  importance: 0.1,
  source: "analyze",
  standing: {
    validFrom: -1,
    validTo: 4_102_444_800_004,
    links: [{ id: uuid(2), kind: "conflicts", by: "a rule", score: 0.25, version: 3 }],
    keyDigest: "a key",
    textDigest: "a text",
    sessionDigest: "a session",
    position: 2,
    trust: "web",
  },
  bytes: 1_572_864,
});

const SPARSE = entry(A, 1, {
  payload: new Uint8Array(),
  keyId: "",
  importance: 0,
  source: "manual",
  bytes: 0,
});

export const VERSION_CASES: readonly Case<VectorStore>[] = [
  law("keeps every member exactly", async (store) => {
    await store.upsert([COMPLETE]);
    for (const read of await everyReading(store)) sameEntry(read, COMPLETE);
  }),
  law("keeps absent members absent", async (store) => {
    await store.upsert([SPARSE]);
    for (const read of await everyReading(store)) {
      deepStrictEqual(Object.keys(read ?? {}).sort(), Object.keys(SPARSE).sort());
      sameEntry(read, SPARSE);
    }
  }),
  law("keeps every source", async (store) => {
    const sources = ["remember", "bulk", "manual", "analyze", "import", "restore"] as const;
    await store.upsert(sources.map((source, number) => entry(A, number, { source })));
    const read = await store.get(A.owner, sources.map((_, number) => uuid(number)));
    deepStrictEqual(read.length, sources.length);
    for (const { id, source } of read) deepStrictEqual(id, uuid(sources.indexOf(source)));
  }),
  law("keeps its own copy of the caller's arrays", async (store) => {
    const mine = entry(A, 1, { vectors: [unit(1)], payload: Uint8Array.of(1, 2, 3) });
    await store.upsert([mine]);
    mine.vectors[0]?.fill(9);
    mine.payload.fill(9);
    for (const read of await everyReading(store)) {
      deepStrictEqual(read?.vectors[0], unit(1));
      deepStrictEqual(read?.payload, Uint8Array.of(1, 2, 3));
    }
  }),
  law("replaces a memory by a higher version", async (store) => {
    await store.upsert([version(1)]);
    await store.upsert([version(3)]);
    for (const read of await everyReading(store)) sameEntry(read, version(3));
    deepStrictEqual((await store.scan(A)).entries.length, 1);
  }),
  law("ignores a lower version", async (store) => {
    await store.upsert([version(3)]);
    await store.upsert([version(2)]);
    for (const read of await everyReading(store)) sameEntry(read, version(3));
  }),
  law("replaces a memory by the same version", async (store) => {
    await store.upsert([version(2, { importance: 0.1 })]);
    await store.upsert([version(2, { importance: 0.9 })]);
    for (const read of await everyReading(store)) deepStrictEqual(read?.importance, 0.9);
  }),
  law("keeps the highest of several versions in one call", async (store) => {
    await store.upsert([version(1), version(10), version(9)]);
    for (const read of await everyReading(store)) sameEntry(read, version(10));
  }),
  law("links a blob to the version it holds", async (store) => {
    await store.upsert([version(2), entry(A, 2)]);
    await store.link(A, [{ id: uuid(1), version: 2, blobId: "first" }]);
    for (const read of await everyReading(store)) {
      sameEntry(read, version(2, { blobId: "first" }));
    }
    await store.link(A, [{ id: uuid(1), version: 2, blobId: "second" }]);
    deepStrictEqual((await one(store))?.blobId, "second");
    const other = await store.get(A.owner, [uuid(2)]);
    ok(!("blobId" in other[0]!), "another memory was linked");
  }),
  law("ignores links of unknown ids, other versions and other scopes", async (store) => {
    await store.upsert([version(2)]);
    await store.link(A, [
      { id: uuid(9), version: 1, blobId: "x" },
      { id: uuid(1), version: 1, blobId: "x" },
      { id: uuid(1), version: 3, blobId: "x" },
    ]);
    await store.link({ ...A, namespace: "other" }, [{ id: uuid(1), version: 2, blobId: "x" }]);
    await store.link({ ...A, owner: objectId("b") }, [{ id: uuid(1), version: 2, blobId: "x" }]);
    sameEntry(await one(store), version(2));
    deepStrictEqual((await store.scan(A)).entries.length, 1);
  }),
  law("keeps a link when a lower version is ignored", async (store) => {
    await store.upsert([version(2)]);
    await store.link(A, [{ id: uuid(1), version: 2, blobId: "kept" }]);
    await store.upsert([version(1), entry(A, 2)]);
    sameEntry(await one(store), version(2, { blobId: "kept" }));
  }),
  law("drops the link of an older version", async (store) => {
    await store.upsert([version(1)]);
    await store.link(A, [{ id: uuid(1), version: 1, blobId: "old" }]);
    await store.upsert([version(2)]);
    for (const read of await everyReading(store)) sameEntry(read, version(2));
    await store.upsert([version(3, { blobId: "new" })]);
    deepStrictEqual((await one(store))?.blobId, "new");
  }),
];
