import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { localVectorStore } from "../../../plugins/local/mod.ts";
import type { IndexEntry, Scope, VectorStore } from "../../../src/interfaces/mod.ts";
import { verifies } from "../../requirements.ts";
import { folderForTests, sealerForTests } from "../sealer_for_tests.ts";

const OWNER = "0x" + "a".repeat(64);
const SCOPE: Scope = { owner: OWNER, namespace: "notes" };
const OTHER: Scope = { owner: "0x" + "b".repeat(64), namespace: "notes" };
const A = { model: "a", dimensions: 4 };
const B = { model: "b", dimensions: 6 };

const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const open = (dataDir: string, about: typeof A) =>
  localVectorStore({ dataDir, sealer: sealerForTests(), segmentSize: 8, ...about });

function vectorOf(n: number, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  vector[0] = Math.cos(n);
  vector[1] = Math.sin(n);
  return vector;
}

function entryOf(n: number, { dimensions }: typeof A, scope: Scope = SCOPE): IndexEntry {
  return {
    ...scope,
    id: idOf(n),
    version: 1,
    vectors: [vectorOf(n, dimensions)],
    payload: Uint8Array.of(n, 1, 2),
    keyId: "k".repeat(32),
    createdAt: n,
    updatedAt: n,
    importance: 0.5,
    source: "remember",
    bytes: 10,
  };
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);
const byId = (a: IndexEntry, b: IndexEntry) => a.id < b.id ? -1 : 1;

async function scanAll(store: VectorStore, scope = SCOPE): Promise<IndexEntry[]> {
  const entries: IndexEntry[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.scan(scope, cursor);
    entries.push(...page.entries);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return entries.sort(byId);
}

async function found(store: VectorStore, { dimensions }: typeof A): Promise<string[]> {
  const query = { ...SCOPE, vector: vectorOf(1, dimensions), limit: 100 };
  return (await store.search(query)).map(({ entry }) => entry.id).sort();
}

Deno.test("memories of another model are read without vectors, and are nobody's neighbours", async () => {
  verifies("15-44");
  await using folder = await folderForTests();
  const entries = range(0, 21).map((n) => entryOf(n, A));
  {
    await using store = open(folder.path, A);
    await store.upsert([...entries, entryOf(50, A, OTHER)]);
    deepStrictEqual(await store.outdated!(), []);
  }
  await using store = open(folder.path, B);
  deepStrictEqual(await store.outdated!(), [{ ...SCOPE, count: 21 }, { ...OTHER, count: 1 }]);
  const bare = entries.map((entry) => ({ ...entry, vectors: [] }));
  deepStrictEqual(await scanAll(store), bare);
  deepStrictEqual((await store.get(OWNER, entries.map(({ id }) => id))).sort(byId), bare);
  deepStrictEqual(await found(store, B), []);
  strictEqual((await store.scopes(OWNER))[0]?.count, 21);
});

Deno.test("memories are moved from model to model one by one, and back", async () => {
  verifies("15-44");
  await using folder = await folderForTests();
  {
    await using store = open(folder.path, A);
    await store.upsert(range(0, 30).map((n) => entryOf(n, A)));
  }
  {
    await using store = open(folder.path, B);
    // Moved ones leave their segments, which stay what they are otherwise.
    for (const n of range(0, 12)) await store.upsert([entryOf(n, B)]);
    await store.delete(SCOPE, [idOf(12), idOf(29)]);
    await store.link(SCOPE, range(13, 19).map((n) => ({ id: idOf(n), version: 1, blobId: "b" })));
    await store.upsert(range(30, 40).map((n) => entryOf(n, B)));
    deepStrictEqual(await store.outdated!(), [{ ...SCOPE, count: 16 }]);
    deepStrictEqual(await found(store, B), [...range(0, 12), ...range(30, 40)].map(idOf));
  }
  const left = range(13, 29);
  {
    await using store = open(folder.path, A);
    // What was not moved has its vectors again.
    deepStrictEqual(await found(store, A), left.map(idOf));
    deepStrictEqual(await store.outdated!(), [{ ...SCOPE, count: 22 }]);
    const read = await scanAll(store);
    for (const n of left) {
      const blob = n < 19 ? { blobId: "b" } : {};
      deepStrictEqual(read.find(({ id }) => id === idOf(n)), { ...entryOf(n, A), ...blob });
    }
  }
  await using store = open(folder.path, B);
  await store.upsert(left.map((n) => entryOf(n, B)));
  deepStrictEqual(await store.outdated!(), []);
  deepStrictEqual(
    await scanAll(store),
    [...range(0, 12), ...left, ...range(30, 40)].map((n) => entryOf(n, B)),
  );
  using database = new DatabaseSync(`${folder.path}/index.db`, { readOnly: true });
  const row = database.prepare(
    "select count(*) as n from tail where seq not in (select seq from entry)",
  ).get();
  strictEqual(row?.["n"], 0);
});

Deno.test("a file with one model only is opened as it is", async () => {
  await using folder = await folderForTests();
  const entries = range(0, 11).map((n) => entryOf(n, A));
  {
    await using store = open(folder.path, A);
    await store.upsert(entries);
  }
  {
    using database = new DatabaseSync(`${folder.path}/index.db`);
    for (const table of ["tail", "segment"]) {
      database.exec(`drop index ${table}_model; alter table ${table} drop column model`);
    }
    database.exec("drop table model");
    database.prepare("insert into meta values(?, ?)").run("identity", JSON.stringify(["a", 4]));
  }
  {
    await using store = open(folder.path, B);
    deepStrictEqual(await store.outdated!(), [{ ...SCOPE, count: 11 }]);
  }
  await using store = open(folder.path, A);
  deepStrictEqual(await scanAll(store), entries);
  deepStrictEqual(await store.outdated!(), []);
});
