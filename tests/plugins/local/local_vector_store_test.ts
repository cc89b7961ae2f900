import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { DatabaseSync } from "node:sqlite";
import { lancedbVectorStore } from "../../../plugins/lancedb/mod.ts";
import { localVectorStore } from "../../../plugins/local/mod.ts";
import { SvcError } from "../../../src/errors.ts";
import type { IndexEntry, ScanPage, Scope, VectorStore } from "../../../src/interfaces/mod.ts";
import { filesHold, folderForTests, sealerForTests } from "../sealer_for_tests.ts";
import { poll, turns } from "../../within.ts";

const OWNER = "0x" + "a".repeat(64);
const SCOPE: Scope = { owner: OWNER, namespace: "notes" };
const DIMENSIONS = 4;

function idOf(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
}

function entryOf(n: number, changes: Partial<IndexEntry> = {}): IndexEntry {
  const angle = n / 7;
  return {
    ...SCOPE,
    id: idOf(n),
    version: 1,
    vectors: [Float32Array.of(Math.cos(angle), Math.sin(angle), 0, 0)],
    payload: new TextEncoder().encode(`sealed record ${n}`),
    keyId: "k".repeat(32),
    createdAt: 1000 + n,
    updatedAt: 2000 + n,
    importance: 0.5,
    source: "remember",
    bytes: 100 + n,
    ...changes,
  };
}

function open(dataDir: string, changes: Partial<Parameters<typeof localVectorStore>[0]> = {}) {
  return localVectorStore({
    dataDir,
    sealer: sealerForTests(),
    dimensions: DIMENSIONS,
    model: "test-model",
    segmentSize: 8,
    ...changes,
  });
}

async function scanAll(store: VectorStore, scope: Scope = SCOPE): Promise<IndexEntry[]> {
  const entries: IndexEntry[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.scan(scope, cursor);
    entries.push(...page.entries);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return entries;
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}

const refused = (message: RegExp) => (error: unknown) =>
  error instanceof SvcError && error.code === "storage_unavailable" && !error.retryable &&
  message.test(error.message);

const byId = (entries: readonly IndexEntry[]) => entries.toSorted((a, b) => a.id < b.id ? -1 : 1);

/** An entry whose blob is known: nothing is to come for it. */
const linked = (n: number) => entryOf(n, { blobId: `blob-${n}` });

/** Waits until so many segments and single rows are on disk: packing goes on beside the calls. */
async function packed(folder: string, segments: number, rows: number): Promise<void> {
  const read = () => {
    using database = new DatabaseSync(`${folder}/index.db`, { readOnly: true });
    const count = (table: string) =>
      Number(Object.values(database.prepare(`select count(*) from ${table}`).get()!)[0]);
    return [count("segment"), count("tail")];
  };
  await poll(read, ([now, single]) => now === segments && single === rows);
}

Deno.test("every field survives the tail, a segment and a reopen", async () => {
  await using folder = await folderForTests();
  const entries = range(19).map((n) =>
    entryOf(
      n,
      n % 2 === 0 ? {} : {
        blobId: `blob-${n}`,
        occurredAt: 5,
        expiresAt: 9.5,
        source: "analyze",
        vectors: range(n % 16 + 1).map((w) => Float32Array.of(0, 0, Math.cos(w), Math.sin(w))),
        payload: new Uint8Array(n % 3),
      },
    )
  );
  {
    await using store = open(folder.path);
    for (const entry of entries) await store.upsert([entry]);
    assert.deepEqual(byId(await scanAll(store)), entries);
  }
  await using store = open(folder.path);
  assert.deepEqual(byId(await scanAll(store)), entries);
  assert.deepEqual(await store.get(OWNER, entries.map((e) => e.id)), entries);
  assert.deepEqual((await store.scopes(OWNER))[0], {
    namespace: "notes",
    count: 19,
    bytes: entries.reduce((sum, e) => sum + e.bytes, 0),
    lastWriteAt: 2018,
  });
});

Deno.test("a store that was not told its embedder is refused, with nothing made", async () => {
  const refusal = { code: "invalid_parameter", message: /the dimensions and the model/ };
  await using folder = await folderForTests();
  for (const embedder of [{ dimensions: 0 }, { dimensions: NaN }, { model: "" }]) {
    assert.throws(() => open(folder.path, embedder), refusal);
    const { dimensions = 4, model = "m" } = { ...embedder } as {
      dimensions?: number;
      model?: string;
    };
    await assert.rejects(
      lancedbVectorStore({ dataDir: folder.path, sealer: sealerForTests(), dimensions, model }),
      refusal,
    );
  }
  assert.deepEqual(await Array.fromAsync(Deno.readDir(folder.path)), []);
});

Deno.test("a sealer may answer a Buffer anywhere in memory", async () => {
  await using folder = await folderForTests();
  const sealer = sealerForTests();
  const buffer = (bytes: Uint8Array) => {
    const shifted = Buffer.alloc(bytes.length + 1);
    shifted.set(bytes, 1);
    return shifted.subarray(1);
  };
  await using store = open(folder.path, {
    sealer: {
      seal: (...given) => buffer(sealer.seal(...given)),
      sealLarge: async (...given) => buffer(await sealer.sealLarge(...given)),
      open: (...given) => buffer(sealer.open(...given)),
      openLarge: async (...given) => buffer(await sealer.openLarge(...given)),
    },
  });
  const entries = range(10).map((n) => entryOf(n));
  await store.upsert(entries);
  assert.deepEqual(await scanAll(store), entries);
  assert.deepEqual(await store.get(OWNER, entries.map((e) => e.id)), entries);
});

Deno.test("segments are packed, thinned out, merged back and dropped", async () => {
  await using folder = await folderForTests();
  await using store = open(folder.path, { segmentSize: 32 });
  await store.upsert(range(70).map(linked));
  await packed(folder.path, 2, 6);
  await store.delete(SCOPE, range(31).map(idOf));
  await packed(folder.path, 1, 7);
  await store.delete(SCOPE, range(64).map(idOf));
  await packed(folder.path, 0, 6);
  assert.deepEqual((await scanAll(store)).map((e) => e.id), range(70).slice(64).map(idOf));
  await store.delete(SCOPE, range(70).map(idOf));
  assert.deepEqual(await store.scopes(OWNER), []);
  assert.deepEqual(await store.scan(SCOPE), { entries: [] });
});

Deno.test("rows whose blobs are unknown wait for them, but not for ever", async () => {
  await using folder = await folderForTests();
  await using store = open(folder.path);
  await store.upsert(range(15).map((n) => entryOf(n)));
  await store.link(SCOPE, range(7).map((n) => ({ id: idOf(n), version: 1, blobId: "b" })));
  await packed(folder.path, 0, 15);
  await store.link(SCOPE, [{ id: idOf(14), version: 1, blobId: "b" }]);
  await packed(folder.path, 1, 7);
  await store.upsert(range(9).map((n) => entryOf(n + 15)));
  await packed(folder.path, 2, 8);
  // What is linked now waits beside its segment, until it is much of it.
  await store.link(SCOPE, [{ id: idOf(7), version: 1, blobId: "c" }]);
  const waiting = () => {
    using database = new DatabaseSync(`${folder.path}/index.db`, { readOnly: true });
    return database.prepare("select 1 from entry where segment is not null and blob is not null")
      .all().length;
  };
  assert.equal(waiting(), 1);
  await store.link(SCOPE, [{ id: idOf(8), version: 1, blobId: "c" }]);
  await poll(waiting, (count) => count === 0);
  const blobs = byId(await scanAll(store)).map(({ blobId = "" }) => blobId).join("");
  assert.equal(blobs, "bbbbbbbccb");
});

Deno.test("what replaces a row while it is packed stays", async () => {
  await using folder = await folderForTests();
  for (let round = 0; round < 12; round++) {
    await using store = open(folder.path);
    const scope = { ...SCOPE, namespace: `round ${round}` };
    const row = (n: number, payload: string, blobId: string) =>
      entryOf(n, { ...scope, payload: new TextEncoder().encode(payload), blobId });
    await store.upsert(range(8).map((n) => row(n, "old", "a")));
    await turns(round);
    // The newest row, at the same version: nothing but its place tells it from the one before.
    await store.upsert([row(7, "new", "b")]);
    for (const wait of [1, 20]) {
      await turns(wait);
      const all = await scanAll(store, scope);
      assert.equal(all.length, 8);
      const newest = all.find(({ id }) => id === idOf(7))!;
      assert.equal(new TextDecoder().decode(newest.payload), "new");
      assert.equal(newest.blobId, "b");
    }
  }
});

Deno.test("a row that cannot be opened keeps its scope from being packed, and no other", async () => {
  await using folder = await folderForTests();
  await using store = open(folder.path);
  const other = { ...SCOPE, namespace: "other" };
  await store.upsert(range(7).map(linked));
  {
    using database = new DatabaseSync(`${folder.path}/index.db`);
    database.exec("update tail set sealed = x'00' where seq = 1");
  }
  await store.upsert([linked(7)]);
  await store.upsert(range(8).map((n) => entryOf(n + 20, { ...other, blobId: "b" })));
  await packed(folder.path, 1, 8);
  assert.equal((await scanAll(store, other)).length, 8);
});

Deno.test("a store packs what is left while it closes", async () => {
  await using folder = await folderForTests();
  const store = open(folder.path);
  await store.upsert(range(400).map(linked));
  await store[Symbol.asyncDispose]();
  using database = new DatabaseSync(`${folder.path}/index.db`, { readOnly: true });
  assert.deepEqual({ ...database.prepare("select count(*) as n from segment").get() }, { n: 50 });
});

Deno.test("what was left unpacked is packed once it is read", async () => {
  await using folder = await folderForTests();
  const first = open(folder.path, { segmentSize: 256 });
  await first.upsert(range(64).map((n) => entryOf(n)));
  await first[Symbol.asyncDispose]();
  await packed(folder.path, 0, 64);
  await using store = open(folder.path);
  assert.equal((await scanAll(store)).length, 64);
  await packed(folder.path, 7, 8);
  assert.deepEqual(byId(await scanAll(store)).map(({ id }) => id), range(64).map(idOf));
});

Deno.test("links are seen everywhere and survive packing and rewriting", async () => {
  await using folder = await folderForTests();
  await using store = open(folder.path, { segmentSize: 16 });
  await store.upsert(range(18).map((n) => entryOf(n)));
  for (const n of [0, 5, 17]) {
    await store.link(SCOPE, [{ id: idOf(n), version: 1, blobId: `b${n}` }]);
  }
  await store.link(SCOPE, [
    { id: idOf(1), version: 2, blobId: "other version" },
    { id: idOf(99), version: 1, blobId: "unknown" },
  ]);
  await store.link({ owner: OWNER, namespace: "none" }, [{ id: idOf(1), version: 1, blobId: "x" }]);
  const linked = async () => {
    const scanned = (await scanAll(store)).filter((e) => e.blobId !== undefined);
    const got = await store.get(OWNER, [0, 1, 2, 3, 5, 17].map(idOf));
    assert.deepEqual(got.filter((e) => e.blobId !== undefined), scanned);
    const vector = entryOf(17).vectors[0]!;
    const [best] = await store.search({ ...SCOPE, vector, limit: 1 });
    assert.equal(best?.entry.blobId, "b17");
    return scanned.map((e) => e.blobId).sort();
  };
  assert.deepEqual(await linked(), ["b0", "b17", "b5"]);
  await store.link(SCOPE, range(3).map((n) => ({ id: idOf(n + 1), version: 1, blobId: "c" })));
  assert.deepEqual(await linked(), ["b0", "b17", "b5", "c", "c", "c"]);
  await store.delete(SCOPE, [1, 2, 3].map(idOf));
  await store.upsert(range(16).map((n) => entryOf(n + 20)));
  assert.deepEqual(await linked(), ["b0", "b17", "b5"]);
});

Deno.test("the highest version stays", async () => {
  await using folder = await folderForTests();
  await using store = open(folder.path);
  const versions = [1, 3, 2].map((version) => entryOf(1, { version, bytes: version }));
  await store.upsert(versions);
  await store.upsert(range(8).map((n) => entryOf(n + 2)));
  await store.upsert([versions[0]!]);
  assert.deepEqual(await store.get(OWNER, [idOf(1)]), [versions[1]]);
  await store.upsert([entryOf(1, { version: 4, bytes: 7 })]);
  assert.equal((await store.get(OWNER, [idOf(1)]))[0]?.version, 4);
  assert.equal((await scanAll(store)).length, 9);
});

Deno.test("scopes stay apart, however they are named", async () => {
  await using folder = await folderForTests();
  await using store = open(folder.path, { segmentSize: 2 });
  const names = ["a", "a\0b", "a\0", "'; drop table entry; --", '"', "é", "e\u0301", "", "🦕"]
    .concat("x".repeat(100_000), " a", "A", "%", "a\u0000\u0000");
  const scopes = names.flatMap((namespace) => [
    { owner: OWNER, namespace },
    { owner: "0x" + "b".repeat(64), namespace },
    { owner: OWNER + "\0" + namespace, namespace: "" },
  ]);
  for (const [n, scope] of scopes.entries()) {
    await store.upsert(range(3).map((m) => entryOf(m, { ...scope, bytes: n })));
    await store.link(scope, [{ id: idOf(1), version: 1, blobId: `blob ${n}` }]);
  }
  for (const [n, scope] of scopes.entries()) {
    const entries = await scanAll(store, scope);
    assert.deepEqual(entries.map((e) => [e.owner, e.namespace, e.bytes]), [
      [scope.owner, scope.namespace, n],
      [scope.owner, scope.namespace, n],
      [scope.owner, scope.namespace, n],
    ]);
    assert.equal(entries[1]?.blobId, `blob ${n}`);
  }
  assert.deepEqual(
    (await store.scopes(OWNER)).map((s) => s.namespace),
    names.toSorted(),
  );
  assert.equal((await store.get(OWNER, [idOf(0)])).length, names.length);
  await assert.rejects(store.scan({ owner: OWNER, namespace: "\ud800" }), SvcError);
});

Deno.test("search is exact and meets the closest window", async () => {
  await using folder = await folderForTests();
  await using store = open(folder.path);
  const far = Float32Array.of(0, 0, 0, 1);
  await store.upsert(range(20).map((n) => entryOf(n)));
  await store.upsert([entryOf(50, { vectors: [far, Float32Array.of(0, 0, 1, 0)] })]);
  const matches = await store.search({
    ...SCOPE,
    vector: Float32Array.of(0, 0, 1, 0),
    limit: 3,
  });
  assert.equal(matches.length, 3);
  assert.equal(matches[0]?.entry.id, idOf(50));
  assert.equal(matches[0]?.distance, 0);
  assert.deepEqual(matches.slice(1).map((m) => m.distance), [1, 1]);
  await assert.rejects(
    store.search({ ...SCOPE, vector: new Float32Array(3), limit: 1 }),
    { code: "dimension_mismatch" },
  );
  await assert.rejects(store.upsert([entryOf(1, { vectors: [new Float32Array(5)] })]), {
    code: "dimension_mismatch",
  });
  await assert.rejects(store.scan(SCOPE, "nonsense"), { code: "invalid_cursor" });
});

Deno.test("memories packed while a scope is scanned are not missed", async () => {
  await using folder = await folderForTests();
  await using store = open(folder.path);
  await store.upsert(range(15).map(linked));
  await packed(folder.path, 1, 7);
  const first = await store.scan(SCOPE);
  await store.upsert([linked(15)]);
  await packed(folder.path, 2, 0);
  const second = await store.scan(SCOPE, first.cursor);
  assert.deepEqual(
    [...first.entries, ...second.entries].map((e) => e.id),
    range(16).map(idOf),
  );
  assert.equal(second.cursor, undefined);
});

/** Ids of the pages from a cursor on. */
async function idsFrom(store: VectorStore, cursor: string | undefined): Promise<string[]> {
  const ids: string[] = [];
  while (cursor !== undefined) {
    const page: ScanPage = await store.scan(SCOPE, cursor);
    ids.push(...page.entries.map(({ id }) => id));
    cursor = page.cursor;
  }
  return ids;
}

Deno.test("single rows come in pages, each once, when they are packed between two", async () => {
  await using folder = await folderForTests();
  await using store = open(folder.path, { segmentSize: 32 });
  await store.upsert(range(320).map(linked));
  const first = await store.scan(SCOPE);
  assert.deepEqual(first.entries.map(({ id }) => id), range(128).map(idOf));
  await packed(folder.path, 10, 0);
  const second = await store.scan(SCOPE, first.cursor);
  assert.deepEqual(second.entries.map(({ id }) => id).sort(), range(256).slice(128).map(idOf));
  assert.ok(second.entries.every(({ blobId, id }) => blobId === `blob-${Number(id.slice(-12))}`));
  // What is left of the last segment is a single row again, under its old number.
  await store.delete(SCOPE, range(319).slice(288).map(idOf));
  await packed(folder.path, 9, 1);
  const rest = [...range(288).slice(256), 319].map(idOf);
  assert.deepEqual((await idsFrom(store, second.cursor)).sort(), rest);
  const nearest = await store.search({ ...SCOPE, vector: entryOf(319).vectors[0]!, limit: 2 });
  assert.equal(new Set(nearest.map(({ entry }) => entry.id)).size, 2);
});

Deno.test("a page gives its memory back when told to, and no other", async () => {
  await using folder = await folderForTests();
  await using store = open(folder.path);
  await store.upsert(range(16).map(linked));
  await packed(folder.path, 2, 0);
  const first = await store.scan(SCOPE);
  const second = await store.scan(SCOPE, first.cursor);
  first.release?.();
  assert.deepEqual(first.entries.map(({ vectors }) => vectors[0]?.length), range(8).map(() => 0));
  assert.deepEqual(second.entries, range(16).slice(8).map(linked));
  assert.deepEqual(await scanAll(store), range(16).map(linked));
});

Deno.test("nothing but the visible columns is on disk", async () => {
  await using folder = await folderForTests();
  await using store = open(folder.path);
  const vector = Float32Array.of(0.123456, 0.654321, 0.5, 0.25);
  const secret = entryOf(1, { vectors: [vector], keyId: "private-key-id" });
  await store.upsert([secret, ...range(6).map((n) => entryOf(n + 10))]);
  await store.link(SCOPE, [{ id: secret.id, version: 1, blobId: "private-blob-id" }]);
  const hidden = [
    new Uint8Array(vector.buffer),
    secret.payload,
    ...["private-key-id", "private-blob-id", "remember"].map((s) => new TextEncoder().encode(s)),
  ];
  for (let round = 0; round < 2; round++) {
    for (const bytes of hidden) assert.equal(await filesHold(folder.path, bytes), false);
    await store.upsert(range(6).map((n) => entryOf(n + 20)));
  }
  assert.ok(await filesHold(folder.path, new TextEncoder().encode("notes")));
  for await (const { name } of Deno.readDir(folder.path)) {
    const { mode } = await Deno.stat(`${folder.path}/${name}`);
    assert.equal(mode! & 0o777, 0o600, name);
  }
});

Deno.test("rows cannot stand in for one another", async () => {
  await using folder = await folderForTests();
  await using store = open(folder.path, { segmentSize: 2 });
  await store.upsert(range(4).map(linked));
  await packed(folder.path, 2, 0);
  using database = new DatabaseSync(`${folder.path}/index.db`);
  database.exec("update segment set sealed = (select sealed from segment where seq = 2)");
  await assert.rejects(store.scan(SCOPE), refused(/cannot be opened/));
});

Deno.test("another key and damage are refused with a way out", async () => {
  await using folder = await folderForTests();
  await using store = open(folder.path);
  await store.upsert([entryOf(1)]);
  assert.throws(
    () => open(folder.path, { sealer: sealerForTests("other") }),
    refused(/another relayer key/),
  );
  await store[Symbol.asyncDispose]();
  await Deno.writeFile(`${folder.path}/index.db`, new Uint8Array(5000).fill(120));
  assert.throws(() => open(folder.path), refused(/index.db is damaged.*delete index.db/));
  await Deno.remove(`${folder.path}/index.db`);
  await using empty = open(folder.path);
  assert.deepEqual(await empty.scopes(OWNER), []);
});

Deno.test("aborted calls reject with the reason, calls of a closed store are refused", async () => {
  await using folder = await folderForTests();
  const store = open(folder.path);
  const reason = new Error("enough");
  const signal = AbortSignal.abort(reason);
  const calls = (options?: { signal: AbortSignal }) => [
    () => store.upsert([entryOf(1)], options),
    () => store.link(SCOPE, [], options),
    () => store.delete(SCOPE, [], options),
    () => store.search({ ...SCOPE, vector: new Float32Array(4), limit: 1 }, options),
    () => store.get(OWNER, [], options),
    () => store.scan(SCOPE, undefined, options),
    () => store.scopes(OWNER, options),
    () => store.outdated!(options),
  ];
  for (const call of calls({ signal })) await assert.rejects(call, (error) => error === reason);
  const last = store.upsert([entryOf(2)]);
  await store[Symbol.asyncDispose]();
  await last;
  for (const call of calls()) await assert.rejects(call, { code: "storage_unavailable" });
  await using again = open(folder.path);
  assert.deepEqual((await scanAll(again)).map((e) => e.id), [idOf(2)]);
});
