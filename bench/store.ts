/**
 * Searches of scopes in a large store, next to LanceDB with the scope as a prefilter. Also by itself
 * with another number of memories: `deno run -A bench/store.ts [rows=1000000]`.
 */
import { loadLibrary } from "../plugins/lancedb/library.ts";
import { WindowsTable } from "../plugins/lancedb/windows_table.ts";
import { localVectorStore } from "../plugins/local/mod.ts";
import { ScopeIndex } from "../src/index/scope_index.ts";
import type { IndexEntry, VectorStore } from "../src/interfaces/mod.ts";
import { RelayerKey } from "../src/relayer_key.ts";
import { type Figure, type Part, tableText } from "./figures.ts";
import { median, uniform, unitVector } from "./statistics.ts";

const DIMENSIONS = 512;
const MEASURED = [10, 300, 1000, 10_000];
/** Memories of each further scope. */
const OTHER = 1000;
const BATCH = 1000;
const QUERIES = 40;
const OWNER = `0x${"1".repeat(64)}`;
const GOALS = { faster: { atLeast: 30 }, slope: { atMost: 1.2 } };

/** Both stores with the same vectors. */
interface Stores {
  readonly store: VectorStore;
  readonly index: ScopeIndex;
  readonly table: WindowsTable;
}

function memory(namespace: string, number: number, vector: Float32Array): IndexEntry {
  return {
    owner: OWNER,
    namespace,
    id: `00000000-0000-4000-8000-${number.toString(16).padStart(12, "0")}`,
    version: 1,
    vectors: [vector],
    payload: new Uint8Array(300),
    keyId: "",
    createdAt: number,
    updatedAt: number,
    importance: 0.5,
    source: "remember",
    bytes: 300,
  };
}

/** Adds scopes to both stores; answers the next number. */
async function add(
  { store, table }: Stores,
  sizes: readonly number[],
  first: number,
): Promise<number> {
  const random = uniform(first + 1);
  const sealed = new Uint8Array(300);
  let next = first;
  for (const size of sizes) {
    const scope = next;
    for (let done = 0; done < size; done += BATCH) {
      const vectors = Array.from(
        { length: Math.min(BATCH, size - done) },
        () => unitVector(DIMENSIONS, random),
      );
      const from = next;
      await store.upsert(vectors.map((vector, i) => memory(`scope ${scope}`, from + i, vector)));
      await table.append(
        vectors.map((vector, i) => ({ seq: from + i, part: 0, scope, vector, sealed })),
      );
      next += vectors.length;
    }
  }
  return next;
}

/** Median milliseconds of ours and theirs, in turns, by scope. */
async function search({ index, table }: Stores, scopes: readonly number[]) {
  const random = uniform(99);
  const found: { ours: number; theirs: number }[] = [];
  for (const scope of scopes) {
    const where = { owner: OWNER, namespace: `scope ${scope}` };
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let i = -5; i < QUERIES; i++) {
      const vector = unitVector(DIMENSIONS, random);
      let began = performance.now();
      await index.read(where, (loaded) => loaded.search(vector, { limit: 10 }));
      const our = performance.now() - began;
      began = performance.now();
      await table.nearest({ scope, vector, limit: 10, approximate: false });
      if (i < 0) continue;
      ours.push(our);
      theirs.push(performance.now() - began);
    }
    found.push({ ours: median(ours), theirs: median(theirs) });
  }
  return found;
}

async function measure(
  folder: string,
  rows: number,
  note: (text: string) => void,
): Promise<Figure[]> {
  const sealer = new RelayerKey(new Uint8Array(32).fill(1)).sealer("bench");
  const identity = { dataDir: folder, sealer, dimensions: DIMENSIONS, model: "bench" };
  await using store = localVectorStore(identity);
  await using index = new ScopeIndex({
    vectorStore: store,
    dimensions: DIMENSIONS,
    budgetBytes: 512 * 2 ** 20,
  });
  const table = await WindowsTable.open(await loadLibrary(), folder, DIMENSIONS);
  try {
    const stores = { store, index, table };
    let next = await add(stores, MEASURED, 0);
    const scopes = MEASURED.map((_, i) => MEASURED.slice(0, i).reduce((sum, n) => sum + n, 0));
    await table.optimize(false);
    const small = await search(stores, scopes);
    while (next < rows) {
      note(`${next} of ${rows} memories`);
      const more = Math.min(100_000, rows - next);
      next = await add(stores, Array.from({ length: Math.ceil(more / OTHER) }, () => OTHER), next);
      await table.optimize(false);
    }
    const large = await search(stores, scopes);
    return MEASURED.flatMap((size, i): Figure[] => {
      const { ours, theirs } = large[i]!;
      const name = `${size} of ${next}`;
      return [
        { name: `${name}: ours, warm`, value: ours, unit: "ms" },
        { name: `${name}: LanceDB, prefilter`, value: theirs, unit: "ms" },
        { name: `${name}: LanceDB / ours`, value: theirs / ours, unit: "x", goal: GOALS.faster },
        {
          name: `${name}: ours / ours in a small store`,
          value: ours / small[i]!.ours,
          unit: "x",
          goal: GOALS.slope,
        },
      ];
    });
  } finally {
    table.close();
  }
}

async function inFolder(rows: number, note: (text: string) => void): Promise<Figure[]> {
  const folder = await Deno.makeTempDir({ prefix: "svc_bench_" });
  try {
    return await measure(folder, rows, note);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const TITLE = "store: searches of one scope among many, same vectors as LanceDB with a prefilter";

/** Scopes of a store with a million memories; takes about ten minutes. */
export const storePart: Part = {
  name: "store",
  title: TITLE,
  run: (note) => inFolder(1_000_000, note),
};

if (import.meta.main) {
  const figures = await inFolder(Number(Deno.args[0] ?? 1_000_000), () => {});
  Deno.stdout.writeSync(new TextEncoder().encode(tableText(TITLE, figures)));
}
