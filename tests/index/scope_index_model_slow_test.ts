import fc from "fast-check";
import assert from "node:assert/strict";
import type { LoadedScope } from "../../src/index/resident_scope.ts";
import { ScopeIndex } from "../../src/index/scope_index.ts";
import type { CallOptions, IndexEntry, ScanPage, Scope } from "../../src/interfaces/mod.ts";
import {
  distanceOf,
  distancesIn,
  dropFrom,
  entryOf,
  load,
  scopeOf,
  unit,
  WaitingStore,
} from "./fakes.ts";
import { turns } from "../within.ts";

const NAMES = ["a", "b", "c"];
const DIMENSIONS = 5;
const id = fc.integer({ min: 0, max: 7 }).map(String);
const place = { name: fc.constantFrom("a", "a", ...NAMES), id };
const version = fc.integer({ min: 1, max: 4 });
const vector = fc.array(fc.integer({ min: -2, max: 2 }), {
  minLength: DIMENSIONS,
  maxLength: DIMENSIONS,
}).filter((numbers) => numbers.some((x) => x !== 0)).map((numbers) => unit(...numbers));
const written = {
  ...place,
  version,
  vectors: fc.array(vector, { minLength: 1, maxLength: 3 }),
  createdAt: fc.integer({ min: 1, max: 3 }),
};
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("write" as const), ...written }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("remove" as const), ...place }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("link" as const), ...place, version }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("load" as const), ...place }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("scan" as const),
      early: fc.constantFrom(true, true, false),
    }),
  },
  fc.record({ do: fc.constant("drop" as const), ...place }),
);

function toEntry(
  { name, id, vectors, version, createdAt }: {
    name: string;
    id: string;
    vectors: Float32Array[];
    version: number;
    createdAt: number;
  },
): IndexEntry {
  return entryOf(id, vectors, { ...scopeOf(name), version, createdAt });
}

/** What a vector store holds: the truth that a loaded scope must equal. */
class Model extends WaitingStore {
  readonly scopes = new Map(NAMES.map((name) => [name, new Map<string, IndexEntry>()]));
  #snapshots = new Map<unknown, () => void>();

  override scan(scope: Scope, cursor?: string, options: CallOptions = {}): Promise<ScanPage> {
    const answer = super.scan(scope, cursor, options);
    const scan = this.waiting.at(-1)!;
    options.signal?.addEventListener("abort", () => scan.fail(new Error("aborted")));
    return answer;
  }

  write(entry: IndexEntry): void {
    const rows = this.scopes.get(entry.namespace)!;
    const known = rows.get(entry.id);
    if (known !== undefined && known.version > entry.version) return;
    const blobId = known?.version === entry.version ? known.blobId : undefined;
    rows.set(entry.id, blobId === undefined ? entry : { ...entry, blobId });
  }

  link(name: string, id: string, version: number, blobId: string): void {
    const known = this.scopes.get(name)!.get(id);
    if (known?.version === version) this.scopes.get(name)!.set(id, { ...known, blobId });
  }

  /** Pages of three in the order of ids; what is answered was read when this is called. */
  #page(name: string, cursor = ""): [IndexEntry[], string?] {
    const rows = [...this.scopes.get(name)!.values()].sort((x, y) => x.id < y.id ? -1 : 1);
    const rest = rows.filter((row) => row.id > cursor);
    return rest.length > 3 ? [rest.slice(0, 3), rest[2]!.id] : [rest];
  }

  /** Reads a page for the oldest waiting scan, and answers it now or at the next call. */
  async scanOne(early: boolean): Promise<void> {
    const scan = this.waiting[0];
    if (scan === undefined) return;
    const answer = this.#snapshots.get(scan);
    if (answer === undefined && early) {
      const page = this.#page(scan.scope.namespace, scan.cursor);
      this.#snapshots.set(scan, () => scan.answer(...page));
      return;
    }
    this.waiting.shift();
    if (answer === undefined) scan.answer(...this.#page(scan.scope.namespace, scan.cursor));
    else answer();
    await turns();
  }
}

function compare(loaded: LoadedScope, truth: Map<string, IndexEntry>, query: Float32Array): void {
  const strip = ({ vectors: _, ...rest }: IndexEntry) => rest;
  const byId = <T extends { id: string }>(rows: T[]): T[] =>
    rows.sort((x, y) => x.id < y.id ? -1 : 1);
  const rows = [...truth.values()];
  assert.deepEqual(byId([...loaded.entries()]), byId(rows.map(strip)));
  assert.equal(loaded.bytes, rows.reduce((sum, row) => sum + row.bytes, 0));
  for (const blobId of ["blob1", "blob2", "blob3", "blob4"]) {
    assert.equal(loaded.countBlob(blobId), rows.filter((row) => row.blobId === blobId).length);
  }
  const distances = distancesIn(loaded, query);
  const exact = loaded.entries().map((row, i) => {
    const distance = distances[i]!;
    assert(Math.abs(distance - distanceOf(query, truth.get(row.id)!.vectors)) < 1e-5);
    return { id: row.id, createdAt: row.createdAt, distance };
  });
  // What is farther than a right angle is equally far.
  const cost = ({ distance }: { distance: number }) => Math.min(1, distance);
  exact.sort((x, y) => cost(x) - cost(y) || y.createdAt - x.createdAt || (x.id < y.id ? -1 : 1));
  for (const limit of [1, 4, 100]) {
    const found = loaded.match({ vector: query }, { limit });
    assert.deepEqual(
      found.map(({ entry, distance }) => [entry.id, distance]),
      exact.slice(0, limit).map((row) => [row.id, row.distance]),
    );
  }
}

Deno.test("after any interleaving a loaded scope equals the store", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record(written), { maxLength: 30 }),
      fc.array(step, { minLength: 5, maxLength: 40, size: "max" }),
      vector,
      fc.constantFrom(1, 30_000, 1 << 20),
      async (before, steps, query, budgetBytes) => {
        const store = new Model();
        for (const one of before) store.write(toEntry(one));
        await using index = new ScopeIndex({
          vectorStore: store,
          dimensions: DIMENSIONS,
          budgetBytes,
        });
        const running: Promise<unknown>[] = [];
        const run = (call: Promise<unknown>): void => {
          // What fails is reported below, or hidden by an earlier failure.
          call.catch(() => {});
          running.push(call);
        };
        run(load(index, scopeOf("a")));
        for (const one of steps) {
          if (one.do === "scan") {
            await store.scanOne(one.early);
          } else if (one.do === "write") {
            const entry = toEntry(one);
            store.write(entry);
            index.apply([entry]);
          } else if (one.do === "remove") {
            store.scopes.get(one.name)!.delete(one.id);
            index.remove(scopeOf(one.name), [one.id]);
          } else if (one.do === "link") {
            const { name, id, version } = one;
            // A link follows the commit of the version it names.
            if ((store.scopes.get(name)!.get(id)?.version ?? 0) < version) continue;
            store.link(name, id, version, `blob${version}`);
            index.applyLinks(scopeOf(name), [{ id, version, blobId: `blob${version}` }]);
          } else if (one.do === "load") {
            run(load(index, scopeOf(one.name)));
          } else {
            dropFrom(index, scopeOf(one.name));
          }
        }
        for (const name of NAMES) {
          let finished = false;
          const check = index.read(scopeOf(name), (loaded) => {
            compare(loaded, store.scopes.get(name)!, query);
          }).finally(() => finished = true);
          run(check);
          while (!finished) {
            await store.scanOne(false);
            await turns();
          }
          await check;
        }
        while (store.waiting.length > 0) await store.scanOne(false);
        await Promise.all(running);
      },
    ),
    { numRuns: 200 },
  );
});
