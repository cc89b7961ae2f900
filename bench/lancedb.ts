import { loadLibrary } from "../plugins/lancedb/library.ts";
import { lancedbVectorStore } from "../plugins/lancedb/mod.ts";
import { WindowsTable } from "../plugins/lancedb/windows_table.ts";
import type { IndexEntry, VectorStore } from "../src/interfaces/mod.ts";
import { TimeOrderedIds } from "../src/jobs/job_ids.ts";
import { RelayerKey } from "../src/sealing/relayer_key.ts";
import type { Figure, Part } from "./figures.ts";
import { median, uniform, unitVector } from "./statistics.ts";

const DIMENSIONS = 512;
const REMEMBERS = 2000;
const QUERIES = 60;
const ids = new TimeOrderedIds();
const SCOPE = { owner: `0x${"1".repeat(64)}`, namespace: "bench" };

function memory(vector: Float32Array, now: number): IndexEntry {
  return {
    ...SCOPE,
    id: ids.next(now),
    version: 1,
    vectors: [vector],
    payload: crypto.getRandomValues(new Uint8Array(400)),
    keyId: "",
    createdAt: now,
    updatedAt: now,
    importance: 0.5,
    source: "remember",
    bytes: 400,
  };
}

/** Median milliseconds of a search of the scope. */
async function searching(store: VectorStore): Promise<number> {
  const random = uniform(7);
  const times: number[] = [];
  for (let i = 0; i < QUERIES; i++) {
    const query = { ...SCOPE, vector: unitVector(DIMENSIONS, random), limit: 10 };
    const began = performance.now();
    await store.search(query);
    times.push(performance.now() - began);
  }
  return median(times);
}

async function measure(note: (text: string) => void, folder: string): Promise<Figure[]> {
  const sealer = new RelayerKey(new Uint8Array(32).fill(1)).sealer("bench");
  const options = { dataDir: folder, sealer, dimensions: DIMENSIONS, model: "bench" };
  const random = uniform(3);
  const writes: number[] = [];
  let after: number;
  {
    await using store = await lancedbVectorStore(options);
    note(`${REMEMBERS} memories, one after the other`);
    for (let i = 0; i < REMEMBERS; i++) {
      const entry = memory(unitVector(DIMENSIONS, random), Date.now());
      const began = performance.now();
      await store.upsert([entry]);
      await store.link(SCOPE, [{ id: entry.id, version: 1, blobId: `blob-${i}` }]);
      writes.push(performance.now() - began);
    }
    after = await searching(store);
  }
  const table = await WindowsTable.open(await loadLibrary(), `${folder}/lancedb`, DIMENSIONS);
  await table.optimize();
  table.close();
  await using store = await lancedbVectorStore({ ...options, flush: { quietMs: 0 } });
  await searching(store);
  const optimized = await searching(store);
  return [
    { name: "one memory: upsert and link", value: median(writes), unit: "ms" },
    { name: "search right after", value: after, unit: "ms" },
    { name: "search, table optimized", value: optimized, unit: "ms" },
    { name: "right after / optimized", value: after / optimized, unit: "x", goal: { atMost: 2 } },
  ];
}

/** Single writes into LanceDB, and what they do to its searches. */
export const lancedbPart: Part = {
  name: "lancedb",
  title: `lancedb: ${REMEMBERS} single memories, then searches of their namespace`,
  async run(note) {
    const folder = await Deno.makeTempDir({ prefix: "svc_bench_" });
    try {
      return await measure(note, folder);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};
