import assert from "node:assert/strict";
import fc from "fast-check";
import type { IndexEntry, Scope, VectorStore } from "../../src/interfaces/mod.ts";

const SCOPES: readonly Scope[] = [
  { owner: "0x" + "a".repeat(64), namespace: "one" },
  { owner: "0x" + "a".repeat(64), namespace: "two" },
  { owner: "0x" + "b".repeat(64), namespace: "one" },
];

type Step =
  | { readonly do: "upsert"; readonly scope: number; readonly entries: [number, number, number][] }
  | { readonly do: "link"; readonly scope: number; readonly links: [number, number, number][] }
  | { readonly do: "delete"; readonly scope: number; readonly ids: number[] }
  | { readonly do: "reopen" };

/** What the store must hold, by scope and id. */
class Model {
  readonly #scopes = SCOPES.map(() => new Map<string, IndexEntry>());
  readonly #lastWrite = SCOPES.map(() => 0);

  upsert(scope: number, entry: IndexEntry): void {
    const old = this.#scopes[scope]!.get(entry.id);
    if (old !== undefined && old.version > entry.version) return;
    this.#scopes[scope]!.set(entry.id, entry);
    this.#lastWrite[scope] = Math.max(this.#lastWrite[scope]!, entry.updatedAt);
  }

  link(scope: number, id: string, version: number, blobId: string): void {
    const old = this.#scopes[scope]!.get(id);
    if (old?.version === version) this.#scopes[scope]!.set(id, { ...old, blobId });
  }

  delete(scope: number, id: string): void {
    this.#scopes[scope]!.delete(id);
  }

  entries(scope: number): IndexEntry[] {
    return sorted([...this.#scopes[scope]!.values()]);
  }

  lastWrite(scope: number): number {
    return this.#lastWrite[scope]!;
  }
}

function sorted(entries: readonly IndexEntry[]): IndexEntry[] {
  return entries.toSorted((a, b) => `${a.namespace} ${a.id}` < `${b.namespace} ${b.id}` ? -1 : 1);
}

function vectorOf(seed: number): Float32Array {
  return Float32Array.of(Math.cos(seed), Math.sin(seed));
}

function entryOf(scope: Scope, n: number, version: number, seed: number): IndexEntry {
  return {
    ...scope,
    id: `id-${n}`,
    version,
    vectors: Array.from({ length: 1 + seed % 3 }, (_, w) => vectorOf(seed + w * 40)),
    payload: new Uint8Array(seed % 5).fill(seed),
    ...(seed % 4 === 0 ? { blobId: `first-${seed}` } : {}),
    keyId: "k",
    createdAt: seed,
    updatedAt: seed * 10,
    importance: 0.2,
    source: "import",
    bytes: seed,
  };
}

function similarity(entry: IndexEntry, vector: Float32Array): number {
  return Math.max(...entry.vectors.map((v) => v[0]! * vector[0]! + v[1]! * vector[1]!));
}

async function compare(store: VectorStore, model: Model): Promise<void> {
  for (const [n, scope] of SCOPES.entries()) {
    const scanned: IndexEntry[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.scan(scope, cursor);
      scanned.push(...page.entries);
      cursor = page.cursor;
    } while (cursor !== undefined);
    const expected = model.entries(n);
    assert.deepEqual(sorted(scanned), expected);
    const vector = vectorOf(1);
    const matches = await store.search({ ...scope, vector, limit: 5 });
    assert.deepEqual(
      matches.map((match) => match.distance.toFixed(6)),
      expected.map((e) => 1 - similarity(e, vector)).sort((a, b) => a - b).slice(0, 5)
        .map((distance) => Math.max(0, distance).toFixed(6)),
    );
    for (const { entry } of matches) {
      assert.deepEqual(entry, expected.find(({ id }) => id === entry.id));
    }
  }
  for (const owner of new Set(SCOPES.map((scope) => scope.owner))) {
    const mine = SCOPES.flatMap((scope, n) => scope.owner === owner ? [n] : []);
    const expected = mine.flatMap((n) => model.entries(n));
    const ids = Array.from({ length: 45 }, (_, n) => `id-${n}`);
    assert.deepEqual(sorted(await store.get(owner, ids)), sorted(expected));
    assert.deepEqual(
      await store.scopes(owner),
      mine.filter((n) => model.entries(n).length > 0).map((n) => ({
        namespace: SCOPES[n]!.namespace,
        count: model.entries(n).length,
        bytes: model.entries(n).reduce((sum, entry) => sum + entry.bytes, 0),
        lastWriteAt: model.lastWrite(n),
      })),
    );
  }
}

const scope = fc.nat(SCOPES.length - 1);
const id = fc.nat(39);
const version = fc.integer({ min: 1, max: 3 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant("upsert" as const),
        scope,
        entries: fc.array(fc.tuple(id, version, fc.nat(200)), { minLength: 1, maxLength: 24 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant("link" as const),
        scope,
        links: fc.array(fc.tuple(id, version, fc.nat(9)), { maxLength: 6 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant("delete" as const),
        scope,
        ids: fc.array(id, { maxLength: 12 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("reopen" as const) }) },
  ),
  { minLength: 5, maxLength: 30 },
);

/** A place for one store, which may be closed and opened again. */
export interface StorePlace extends AsyncDisposable {
  open(segmentSize: number): VectorStore | Promise<VectorStore>;
}

interface Playing {
  /** Runs of calls that are played. */
  readonly runs: number;
  /** Calls are sent one after the other: a store need not keep their order otherwise. */
  readonly oneByOne?: boolean;
}

/** Plays runs of calls, with small and large segments, and compares what is left with a map. */
export async function playCalls(
  place: () => Promise<StorePlace>,
  { runs, oneByOne = false }: Playing,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(2, 8, 20), async (run, segmentSize) => {
      await using at = await place();
      let store = await at.open(segmentSize);
      try {
        const model = new Model();
        const calls: Promise<void>[] = [];
        for (const step of run) {
          if (step.do === "reopen") {
            await store[Symbol.asyncDispose]();
            store = await at.open(segmentSize);
            continue;
          }
          const call = play(store, model, step);
          if (oneByOne) await call;
          calls.push(call);
        }
        await Promise.all(calls);
        await compare(store, model);
      } finally {
        await store[Symbol.asyncDispose]();
      }
    }),
    { numRuns: runs },
  );
}

function play(
  store: VectorStore,
  model: Model,
  step: Exclude<Step, { readonly do: "reopen" }>,
): Promise<void> {
  const at = SCOPES[step.scope]!;
  if (step.do === "upsert") {
    const entries = step.entries.map(([n, v, seed]) => entryOf(at, n, v, seed));
    entries.forEach((entry) => model.upsert(step.scope, entry));
    return store.upsert(entries);
  }
  if (step.do === "link") {
    const links = step.links.map(([n, v, blob]) => ({
      id: `id-${n}`,
      version: v,
      blobId: `blob-${blob}`,
    }));
    links.forEach((l) => model.link(step.scope, l.id, l.version, l.blobId));
    return store.link(at, links);
  }
  const ids = step.ids.map((n) => `id-${n}`);
  ids.forEach((gone) => model.delete(step.scope, gone));
  return store.delete(at, ids);
}
