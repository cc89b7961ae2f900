import assert from "node:assert/strict";
import { Arena } from "../../src/index/vectors/arena.ts";
import type { KernelBuild } from "../../src/index/vectors/dot_kernel.ts";
import { ResidentScope } from "../../src/index/resident_scope.ts";
import { uniform, unitVector } from "../../bench/statistics.ts";
import { distancesIn, entryOf, scopeOf } from "./fakes.ts";

const DIMENSIONS = 64;
const SIZE = 5000;
const random = uniform(21);

/** Unit vectors around a few centres, so that many are nearly as close as the best. */
const centres = Array.from({ length: 20 }, () => unitVector(DIMENSIONS, random));
function clustered(spread: number): Float32Array {
  const centre = centres[Math.floor(random() * centres.length)]!;
  const noise = unitVector(DIMENSIONS, random);
  const vector = centre.map((value, i) => value + spread * noise[i]!);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

const entries = Array.from(
  { length: SIZE },
  (_, i) =>
    entryOf(`m${i}`, Array.from({ length: i % 50 === 0 ? 3 : 1 }, () => clustered(0.4)), {
      createdAt: i % 7,
      importance: i % 10 / 10,
    }),
);

function filled(build?: KernelBuild): ResidentScope {
  const scope = new ResidentScope(
    scopeOf("a"),
    new Arena(DIMENSIONS, build === undefined ? {} : { build }),
  );
  entries.forEach((entry, i) => {
    scope.put(entry);
    scope.setText(entry.id, 1, i % 3 === 0 ? `heron number ${i}` : `stork in field ${i % 40}`);
  });
  return scope;
}

/** The best by comparing every memory's floats and sorting. */
function expected(
  scope: ResidentScope,
  vector: Float32Array,
  keep: (importance: number, distance: number) => boolean,
): string[] {
  const distances = distancesIn(scope, vector);
  return scope.entries().map((entry, slot) => ({ entry, distance: distances[slot]! }))
    .filter(({ entry, distance }) => keep(entry.importance, distance))
    .sort((a, b) =>
      a.distance - b.distance || b.entry.createdAt - a.entry.createdAt ||
      (a.entry.id < b.entry.id ? -1 : 1)
    )
    .slice(0, 10).map(({ entry }) => entry.id);
}

for (const build of [undefined, "plain"] as const) {
  Deno.test(`a large scope is searched exactly, ${build ?? "best"} kernel`, () => {
    const scope = filled(build);
    for (let i = 0; i < 25; i++) {
      const query = clustered(0.4);
      const ids = (options: object): string[] =>
        scope.match({ vector: query }, { limit: 10, ...options }).map(({ entry }) => entry.id);
      assert.deepEqual(ids({}), expected(scope, query, () => true));
      const accept = (entry: { importance: number }) => entry.importance > 0.7;
      assert.deepEqual(ids({ accept }), expected(scope, query, (value) => value > 0.7));
      const fifth = scope.match({ vector: query }, { limit: 5 })[4]!.distance;
      assert.deepEqual(
        ids({ maxDistance: fifth }),
        expected(scope, query, (_, distance) => distance < fifth),
      );
      assert.deepEqual(ids({ maxDistance: 1e-9 }), []);
    }
  });
}

/** What is lost of a query when it is rounded to 63 steps each way. */
function roundingOf(query: Float32Array): Float32Array {
  const scale = Math.max(...query.map(Math.abs)) / 63;
  return query.map((value) => value - Math.round(value / scale) * scale);
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

for (const size of [801, 1500]) {
  Deno.test(`the best of ${size} memories is found where rounding hides it most`, () => {
    const query = unitVector(DIMENSIONS, random);
    const lost = roundingOf(query);
    const error = Math.hypot(...lost);
    const along = unit(lost);
    const best = unit(query.map((value, i) => 0.5 * value + 0.86 * along[i]!));
    const cosine = best.reduce((sum, value, i) => sum + value * query[i]!, 0);
    const scope = new ResidentScope(scopeOf("a"), new Arena(DIMENSIONS));
    for (let i = 0; i < size; i++) {
      // A little further away, at right angles to what is lost.
      const target = i < 40 ? cosine - 0.4 * error : -0.5;
      const other = unitVector(DIMENSIONS, random);
      const side = unit(without(without(other, query), unit(without(lost, query))));
      const wide = Math.sqrt(1 - target ** 2);
      scope.put(entryOf(`m${i}`, [query.map((value, d) => target * value + wide * side[d]!)]));
    }
    scope.put(entryOf("best", [best]));
    const found = scope.match({ vector: query }, { limit: 10 }).map(({ entry }) => entry.id);
    assert.deepEqual(found, expected(scope, query, () => true));
    assert.equal(found[0], "best");
    const nearest = scope.match({ vector: query }, { limit: 1 })[0]!.distance;
    const within = (maxDistance: number) =>
      scope.match({ vector: query }, { limit: 10, maxDistance }).map(({ entry }) => entry.id);
    assert.deepEqual(within(nearest), []);
    assert.deepEqual(within(nearest + 1e-6), ["best"]);
    assert.deepEqual(scope.match({ vector: query }, { limit: 0 }), []);
  });
}

/** What is left of a vector at right angles to a unit vector. */
function without(vector: Float32Array, direction: Float32Array): Float32Array {
  const along = vector.reduce((sum, value, i) => sum + value * direction[i]!, 0);
  return vector.map((value, i) => value - along * direction[i]!);
}

Deno.test("words and meaning together are exact in a large scope, too", () => {
  const scope = filled();
  for (const text of ["heron number 12", "field 7"]) {
    const vector = clustered(0.4);
    // A limit near the size compares floats only.
    const all = scope.match({ vector, text, known: 0.8 }, { limit: SIZE });
    const best = scope.match({ vector, text, known: 0.8 }, { limit: 10 });
    assert.deepEqual(best, all.slice(0, 10));
    const maxDistance = all[3]!.distance;
    const within = all.filter(({ distance }) => distance < maxDistance).slice(0, 10);
    assert.deepEqual(scope.match({ vector, text, known: 0.8 }, { limit: 10, maxDistance }), within);
  }
});
