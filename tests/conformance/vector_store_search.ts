import { deepStrictEqual, ok } from "node:assert/strict";
import type { VectorMatch, VectorStore } from "../../src/interfaces/mod.ts";
import { entries, entry, unit, uuid } from "./index_entry.ts";
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

/** Search by vector, and writes under load. */
export const SEARCH_CASES: readonly Case<VectorStore>[] = [
  law("finds nothing in an empty scope", async (store) => {
    deepStrictEqual(await search(store, unit(1)), []);
    deepStrictEqual(await store.scan(A), { entries: [] });
    deepStrictEqual(await store.get(A.owner, [uuid(1)]), []);
    deepStrictEqual(await store.scopes(A.owner), []);
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
  law("shows a write to the next call", async (store) => {
    for (let number = 0; number < 20; number++) {
      await store.upsert([entry(A, number)]);
      deepStrictEqual(ids(await search(store, unit(1, number), 1)), [uuid(number)]);
    }
  }),
  law("finds the exact neighbours among 500", async (store) => {
    await store.upsert(entries(A, 500));
    for (const target of [3, 250, 499]) {
      const far = (number: number) => {
        const [a, b] = [unit(1, number), unit(1, target)];
        return a.reduce((sum, value, index) => sum - value * b[index]!, 1);
      };
      const wanted = Array.from({ length: 500 }, (_, number) => number)
        .sort((a, b) => far(a) - far(b));
      const found = await search(store, unit(1, target), 1);
      near(found[0]?.distance, far(wanted[0]!));
    }
  }),
  law("keeps all of 50 concurrent upserts", async (store) => {
    await Promise.all(entries(A, 50).map((item) => store.upsert([item])));
    const found = ids(await search(store, unit(1), 100));
    deepStrictEqual(found.sort(), entries(A, 50).map(({ id }) => id).sort());
  }),
  law("keeps one of 10 concurrent upserts of one id", async (store) => {
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        store.upsert([entry(A, 1, { vectors: [unit(1, index)] })])),
    );
    deepStrictEqual(ids(await search(store, unit(1), 100)), [uuid(1)]);
    deepStrictEqual((await store.scan(A)).entries.length, 1);
    deepStrictEqual((await store.scopes(A.owner))[0]?.count, 1);
  }),
];
