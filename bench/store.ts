/**
 * Searches of scopes in a large store, next to LanceDB with the scope as a prefilter. Also by itself
 * with another number of memories: `deno run -A bench/store.ts [rows=1000000]`.
 */
import { loadLibrary } from "../plugins/lancedb/library.ts";
import { WindowsTable } from "../plugins/lancedb/windows_table.ts";
import { localVectorStore } from "../plugins/local/mod.ts";
import { ScopeIndex } from "../src/index/scope_index.ts";
import type { IndexEntry, VectorStore } from "../src/interfaces/mod.ts";
import { RelayerKey } from "../src/sealing/relayer_key.ts";
import { type Figure, type Part, tableText } from "./figures.ts";
import { median, uniform, unitVector } from "./statistics.ts";

const DIMENSIONS = 512;
const MEASURED = [10, 300, 1000, 10_000];
/** Memories of each further scope. */
const OTHER = 1000;
const BATCH = 1000;
const QUERIES = 40;
/** Searches of each of our stores before the first that counts. */
const WARM_UP = 500;
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

/** Fills both with the measured scopes and then with others up to so many rows. */
async function fill(stores: Stores, rows: number, note: (text: string) => void): Promise<number> {
  let next = await add(stores, MEASURED, 0);
  await stores.table.optimize();
  while (next < rows) {
    note(`${next} of ${rows} memories`);
    const more = Math.min(100_000, rows - next);
    next = await add(stores, Array.from({ length: Math.ceil(more / OTHER) }, () => OTHER), next);
    await stores.table.optimize();
  }
  return next;
}

/** Opens both in a folder of their own. */
async function openIn(folder: string, opened: AsyncDisposableStack): Promise<Stores> {
  await Deno.mkdir(folder);
  const sealer = new RelayerKey(new Uint8Array(32).fill(1)).sealer("bench");
  const identity = { dataDir: folder, sealer, dimensions: DIMENSIONS, model: "bench" };
  const store = opened.use(localVectorStore(identity));
  const index = opened.use(
    new ScopeIndex({ vectorStore: store, dimensions: DIMENSIONS, budgetBytes: 512 * 2 ** 20 }),
  );
  const table = await WindowsTable.open(await loadLibrary(), folder, DIMENSIONS);
  opened.defer(() => table.close());
  return { store, index, table };
}

/** Milliseconds of one search of ours. */
async function ours({ index }: Stores, scope: number, vector: Float32Array): Promise<number> {
  const where = { owner: OWNER, namespace: `scope ${scope}` };
  const began = performance.now();
  await index.read(where, (loaded) => loaded.match({ vector }, { limit: 10 }));
  return performance.now() - began;
}

/** Milliseconds of one search of theirs. */
async function theirs({ table }: Stores, scope: number, vector: Float32Array): Promise<number> {
  const began = performance.now();
  await table.nearest({ scope, vector, limit: 10, approximate: false });
  return performance.now() - began;
}

/** Median milliseconds of searches of a scope, in turns. */
async function search({ small, large }: Record<"small" | "large", Stores>, scope: number) {
  const random = uniform(99);
  const times = { small: [] as number[], large: [] as number[], theirs: [] as number[] };
  // Ours is compiled by then: what is measured first would else look slow.
  for (let i = 0; i < WARM_UP; i++) {
    const vector = unitVector(DIMENSIONS, random);
    await ours(small, scope, vector);
    await ours(large, scope, vector);
  }
  for (let i = -5; i < QUERIES; i++) {
    const vector = unitVector(DIMENSIONS, random);
    for (const store of ["small", "large"] as const) {
      // Both of ours follow one of theirs, which leaves nothing of ours in the processor's caches.
      const their = await theirs(large, scope, vector);
      const our = await ours({ small, large }[store], scope, vector);
      if (i < 0) continue;
      times.theirs.push(their);
      times[store].push(our);
    }
  }
  return {
    small: median(times.small),
    large: median(times.large),
    theirs: median(times.theirs),
  };
}

async function measure(
  folder: string,
  rows: number,
  note: (text: string) => void,
): Promise<Figure[]> {
  await using opened = new AsyncDisposableStack();
  const small = await openIn(`${folder}/small`, opened);
  const large = await openIn(`${folder}/large`, opened);
  await fill(small, 0, note);
  const count = await fill(large, rows, note);
  const figures: Figure[] = [];
  let scope = 0;
  for (const size of MEASURED) {
    const times = await search({ small, large }, scope);
    const name = `${size} of ${count}`;
    figures.push(
      { name: `${name}: ours, warm`, value: times.large, unit: "ms" },
      { name: `${name}: LanceDB, prefilter`, value: times.theirs, unit: "ms" },
      {
        name: `${name}: LanceDB / ours`,
        value: times.theirs / times.large,
        unit: "x",
        goal: GOALS.faster,
      },
      {
        name: `${name}: ours / ours in a small store`,
        value: times.large / times.small,
        unit: "x",
        goal: GOALS.slope,
      },
    );
    scope += size;
  }
  return figures;
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
