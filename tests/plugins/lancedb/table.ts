import assert from "node:assert/strict";
import { lancedbVectorStore } from "../../../plugins/lancedb/mod.ts";
import { localVectorStore } from "../../../plugins/local/mod.ts";
import type { IndexEntry, VectorStore } from "../../../src/interfaces/mod.ts";
import { RelayerKey } from "../../../src/sealing/relayer_key.ts";
import { entry, uuid } from "../../../testing/index_entry.ts";

const sealer = new RelayerKey(new Uint8Array(32).fill(7)).sealer("lancedb");
const DIMENSIONS = 48;
const SCOPES = ["a", "b", "c"].map((namespace) => ({ owner: `0x${"1".repeat(64)}`, namespace }));
const NOW = { rows: 1, quietMs: 60_000, commits: 4, vectorIndexRows: 0 };

/** Mulberry32: the same numbers in every run. */
function randomNumbers(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function randomVector(random: () => number): Float32Array {
  const vector = Float32Array.from({ length: DIMENSIONS }, () => random() - 0.5);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

function memories(random: () => number, count: number): IndexEntry[] {
  const shared = randomVector(random);
  return Array.from({ length: count }, (_, number) => {
    const windows = number % 11 === 0 ? 3 : 1;
    // Some memories are equally close to everything: their ids decide.
    const vectors = number % 7 === 0
      ? [shared]
      : Array.from({ length: windows }, () => randomVector(random));
    return entry(SCOPES[number % 3]!, number, { vectors, version: 1 + (number % 2) });
  });
}

function open(dataDir: string, flush: Partial<typeof NOW> = NOW): Promise<VectorStore> {
  return lancedbVectorStore({ dataDir, sealer, dimensions: DIMENSIONS, model: "test", flush });
}

async function inFolder(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await Deno.makeTempDir({ prefix: "svc_lancedb_" });
  try {
    await work(dataDir);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

/** Writes in batches, replaces and deletes some. */
async function fill(store: VectorStore, all: readonly IndexEntry[]): Promise<void> {
  for (let at = 0; at < all.length; at += 100) await store.upsert(all.slice(at, at + 100));
  await store.upsert(all.slice(0, 30).map((old) => ({ ...old, version: old.version + 1 })));
  for (const scope of SCOPES) await store.delete(scope, all.slice(40, 60).map(({ id }) => id));
}

Deno.test("1,000 random queries answer as the embedded store does", async () => {
  await inFolder(async (dataDir) => {
    const identity = { dataDir, sealer, dimensions: DIMENSIONS, model: "test" };
    await using local = localVectorStore(identity);
    await using lance = await open(dataDir, { ...NOW, rows: 250 });
    const random = randomNumbers(1);
    const all = memories(random, 1800);
    await fill(local, all);
    await fill(lance, all);
    for (let number = 0; number < 1000; number++) {
      const query = {
        ...SCOPES[number % 3]!,
        vector: number % 10 === 0 ? all[number]!.vectors[0]! : randomVector(random),
        limit: 1 + number % 20,
      };
      const [wanted, found] = [await local.search(query), await lance.search(query)];
      const ids = (matches: typeof found) => matches.map((match) => match.entry.id);
      assert.deepEqual(ids(found), ids(wanted));
      for (const [i, match] of found.entries()) {
        assert.ok(Math.abs(match.distance - wanted[i]!.distance) < 1e-5);
      }
    }
  });
});

Deno.test("what waited and what was in the table is there after a restart", async () => {
  await inFolder(async (dataDir) => {
    const all = memories(randomNumbers(2), 900);
    const before: unknown[] = [];
    const read = async (store: VectorStore) => {
      const ids = all.map(({ id }) => id);
      const found = await store.get(SCOPES[0]!.owner, ids);
      return found.sort((a, b) => a.id < b.id ? -1 : 1);
    };
    {
      await using store = await open(dataDir, { ...NOW, rows: 300 });
      await fill(store, all);
      await store.link(SCOPES[1]!, [{ id: all[1]!.id, version: 3, blobId: "blob" }]);
      before.push(...await read(store));
    }
    await using store = await open(dataDir);
    assert.deepEqual(await read(store), before);
    assert.equal(before.length, 880);
    const [linked] = await store.get(SCOPES[1]!.owner, [all[1]!.id]);
    assert.equal(linked?.blobId, "blob");
  });
});

Deno.test("a table that lost rows, another model and another key are refused", async () => {
  await inFolder(async (dataDir) => {
    {
      await using store = await open(dataDir);
      await store.upsert(memories(randomNumbers(3), 50));
    }
    const refused = (options: object, text: RegExp) =>
      assert.rejects(
        lancedbVectorStore({ dataDir, sealer, dimensions: DIMENSIONS, model: "test", ...options }),
        (error: Error & { code?: string; retryable?: boolean }) =>
          error.code === "storage_unavailable" && !error.retryable && text.test(error.message),
      );
    await refused({ model: "other" }, /holds vectors of \["test",48\]/);
    const other = new RelayerKey(new Uint8Array(32).fill(8)).sealer("lancedb");
    await refused({ sealer: other }, /another relayer key/);
    await Deno.remove(`${dataDir}/lancedb/windows.lance`, { recursive: true });
    await refused({}, /has 0 rows instead of \d+: .*restore/);
  });
});

Deno.test("payloads, ids of blobs and keys are sealed in every file", async () => {
  await inFolder(async (dataDir) => {
    {
      await using store = await open(dataDir);
      const text = new TextEncoder().encode("a payload nobody may read");
      const one = memories(randomNumbers(4), 1)[0]!;
      await store.upsert([{ ...one, payload: text, blobId: "a-blob-nobody-may-read" }]);
      await store.upsert([entry(SCOPES[0]!, 99, { vectors: one.vectors, payload: text })]);
    }
    for await (const path of files(dataDir)) {
      const text = new TextDecoder("latin1").decode(await Deno.readFile(path));
      assert.ok(!text.includes("nobody may read") && !text.includes("nobody-may-read"), path);
      assert.ok(!text.includes(entry(SCOPES[0]!, 0).keyId), path);
    }
  });
});

Deno.test("a scope that is large enough is searched by a vector index", async () => {
  await inFolder(async (dataDir) => {
    await using store = await open(dataDir, {
      ...NOW,
      rows: 500,
      commits: 1,
      vectorIndexRows: 800,
    });
    const random = randomNumbers(5);
    const all = Array.from(
      { length: 1000 },
      (_, number) => entry(SCOPES[0]!, number, { vectors: [randomVector(random)] }),
    );
    for (let at = 0; at < all.length; at += 250) await store.upsert(all.slice(at, at + 250));
    let found = 0;
    for (const { id, vectors } of all.slice(0, 100)) {
      const [best] = await store.search({ ...SCOPES[0]!, vector: vectors[0]!, limit: 1 });
      if (best?.entry.id === id) found++;
    }
    assert.ok(found >= 95, `${found} of 100`);
    assert.equal((await store.get(SCOPES[0]!.owner, [uuid(7)])).length, 1);
  });
});

async function* files(folder: string): AsyncGenerator<string> {
  for await (const item of Deno.readDir(folder)) {
    const path = `${folder}/${item.name}`;
    if (item.isDirectory) yield* files(path);
    else yield path;
  }
}
