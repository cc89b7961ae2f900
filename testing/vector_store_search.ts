import { deepStrictEqual, ok } from "node:assert/strict";
import type { VectorMatch, VectorStore } from "../src/interfaces/mod.ts";
import { entries, entry, SUITE_DIMENSIONS, unit, uuid } from "./index_entry.ts";
import { law, objectId } from "./law.ts";
import type { Case } from "./suite.ts";

const A = { owner: objectId("a"), namespace: "default" };

function search(store: VectorStore, vector: Float32Array, limit = 10): Promise<VectorMatch[]> {
  return store.search({ ...A, vector, limit });
}

function ids(matches: readonly VectorMatch[]): string[] {
  return matches.map((match) => match.entry.id);
}

function near(actual: number | undefined, wanted: number): void {
  ok(Math.abs((actual ?? NaN) - wanted) < 1e-3, `distance ${actual}, wanted ${wanted}`);
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * b[index]!, 0);
}

/** A unit vector in a direction that differs from number to number, the same in every run. */
function scattered(number: number): Float32Array {
  return unit(...Array.from(
    { length: SUITE_DIMENSIONS },
    (_, index) => Math.sin((number + 1) * (index + 1) * 12.9898) * 43758.5453 % 1,
  ));
}

export const SEARCH_CASES: readonly Case<VectorStore>[] = [
  law("finds nothing in an empty scope", async (store) => {
    deepStrictEqual(await search(store, unit(1)), []);
    deepStrictEqual(await store.scan(A), { entries: [] });
    deepStrictEqual(await store.get(A.owner, [uuid(1)]), []);
    deepStrictEqual(await store.scopes(A.owner), []);
  }),
  law("keeps a memory without vectors, and never finds it", async (store) => {
    await store.upsert([entry(A, 1, { vectors: [] }), entry(A, 2)]);
    deepStrictEqual(ids(await search(store, unit(1))), [uuid(2)]);
    deepStrictEqual((await store.get(A.owner, [uuid(1)]))[0]?.vectors, []);
    deepStrictEqual((await store.scan(A)).entries.length, 2);
    await store.upsert([entry(A, 1, { vectors: [unit(1)] })]);
    deepStrictEqual(ids(await search(store, unit(1))).sort(), [uuid(1), uuid(2)]);
  }),
  law("answers nearest first, with cosine distance from 0 to 2", async (store) => {
    await store.upsert([
      entry(A, 1, { vectors: [unit(-1)] }),
      entry(A, 2, { vectors: [unit(1)] }),
      entry(A, 3, { vectors: [unit(0, 1)] }),
      entry(A, 4, { vectors: [unit(1, 1)] }),
    ]);
    const matches = await search(store, unit(1));
    deepStrictEqual(ids(matches), [uuid(2), uuid(4), uuid(3), uuid(1)]);
    for (const [index, wanted] of [0, 1 - Math.SQRT1_2, 1, 2].entries()) {
      near(matches[index]?.distance, wanted);
    }
  }),
  law("takes the closest window of a memory", async (store) => {
    await store.upsert([
      entry(A, 1, { vectors: [unit(-1), unit(0, 1), unit(1)] }),
      entry(A, 2, { vectors: [unit(1, 1), unit(1, 1)] }),
    ]);
    const matches = await search(store, unit(1));
    deepStrictEqual(ids(matches), [uuid(1), uuid(2)]);
    near(matches[0]?.distance, 0);
    near(matches[1]?.distance, 1 - Math.SQRT1_2);
  }),
  law("answers a memory once, though many windows match", async (store) => {
    const windows = Array.from({ length: 16 }, (_, index) => unit(100, index));
    await store.upsert([
      entry(A, 1, { vectors: windows }),
      entry(A, 2, { vectors: windows }),
      entry(A, 3, { vectors: [unit(0, 1)] }),
    ]);
    deepStrictEqual(ids(await search(store, unit(1), 3)).sort(), [uuid(1), uuid(2), uuid(3)]);
  }),
  law("honours the limit", async (store) => {
    await store.upsert(entries(A, 20));
    deepStrictEqual(ids(await search(store, unit(1), 3)), [uuid(0), uuid(1), uuid(2)]);
    deepStrictEqual((await search(store, unit(1), 50)).length, 20);
  }),
  law("answers 600 memories to who asks for as many", async (store) => {
    await store.upsert(entries(A, 601));
    const wanted = entries(A, 600).map(({ id }) => id);
    deepStrictEqual(ids(await search(store, unit(1), 600)).sort(), wanted);
  }),
  law("shows a write to the next call", async (store) => {
    for (let number = 0; number < 20; number++) {
      await store.upsert([entry(A, number)]);
      deepStrictEqual(ids(await search(store, unit(1, number), 1)), [uuid(number)]);
    }
  }),
  law("finds the exact neighbours among 500", async (store) => {
    const vectors = Array.from({ length: 500 }, (_, number) => scattered(number));
    await store.upsert(vectors.map((vector, number) => entry(A, number, { vectors: [vector] })));
    for (const query of [scattered(1000), scattered(1001), scattered(1002)]) {
      const wanted = vectors
        .map((vector, number) => ({ id: uuid(number), far: 1 - dot(vector, query) }))
        .sort((a, b) => a.far - b.far)
        .slice(0, 5);
      const found = await search(store, query, 5);
      deepStrictEqual(ids(found), wanted.map(({ id }) => id));
      for (const [index, { far }] of wanted.entries()) near(found[index]?.distance, far);
    }
  }),
  law("keeps all of 50 concurrent upserts", async (store) => {
    await Promise.all(entries(A, 50).map((item) => store.upsert([item])));
    const found = ids(await search(store, unit(1), 100));
    deepStrictEqual(found.sort(), entries(A, 50).map(({ id }) => id).sort());
  }),
  law("keeps one of 10 concurrent upserts of one id", async (store) => {
    await Promise.all(
      Array.from(
        { length: 10 },
        (_, index) => store.upsert([entry(A, 1, { vectors: [unit(1, index)] })]),
      ),
    );
    deepStrictEqual(ids(await search(store, unit(1), 100)), [uuid(1)]);
    deepStrictEqual((await store.scan(A)).entries.length, 1);
    deepStrictEqual((await store.scopes(A.owner))[0]?.count, 1);
  }),
  law("answers a memory that is replaced beside the search, once", async (store) => {
    await store.upsert(entries(A, 40));
    const all = entries(A, 40).map(({ id }) => id);
    for (let number = 0; number < 40; number++) {
      const searches = [search(store, unit(1, number), 1), search(store, unit(1), 100)];
      const writing = store.upsert([entry(A, number, { version: 2 })]);
      const [closest, every] = await Promise.all(searches);
      deepStrictEqual(ids(closest!), [uuid(number)]);
      deepStrictEqual(ids(every!).sort(), all);
      await writing;
    }
  }),
];
