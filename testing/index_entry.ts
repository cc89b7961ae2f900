import { deepStrictEqual, ok } from "node:assert/strict";
import type { IndexEntry, Scope } from "../src/interfaces/mod.ts";

/** Length of the vectors of {@linkcode vectorStoreSuite}. */
export const SUITE_DIMENSIONS = 32;

/** A vector of unit length: the numbers given, zeros after them, scaled. */
export function unit(...numbers: number[]): Float32Array {
  const length = Math.hypot(...numbers);
  const vector = new Float32Array(SUITE_DIMENSIONS);
  vector.set(numbers.map((number) => number / length));
  return vector;
}

export function uuid(number: number): string {
  return `00000000-0000-4000-8000-${number.toString(16).padStart(12, "0")}`;
}

/** An entry of a scope; what is not given is ordinary. */
export function entry(scope: Scope, number: number, rest: Partial<IndexEntry> = {}): IndexEntry {
  return {
    ...scope,
    id: uuid(number),
    version: 1,
    vectors: [unit(1, number)],
    payload: Uint8Array.of(1, 2, 3, number & 255),
    keyId: "0123456789abcdef0123456789abcdef",
    createdAt: 1_700_000_000_000,
    updatedAt: 1_700_000_000_000 + number,
    importance: 0.5,
    source: "remember",
    bytes: 100,
    ...rest,
  };
}

export function entries(scope: Scope, count: number): IndexEntry[] {
  return Array.from({ length: count }, (_, number) => entry(scope, number));
}

/** Entries are equal member by member; a failure does not print the payload, which may be large. */
export function sameEntry(actual: IndexEntry | undefined, wanted: IndexEntry): void {
  ok(actual !== undefined, "the memory is missing");
  const { payload, ...rest } = actual;
  const { payload: wantedPayload, ...wantedRest } = wanted;
  deepStrictEqual(rest, wantedRest);
  ok(payload instanceof Uint8Array, "the payload is no Uint8Array");
  ok(payload.toHex() === wantedPayload.toHex(), "the payload changed");
}
