import type {
  CallOptions,
  IndexEntry,
  ScanPage,
  Scope,
  VectorStore,
} from "../../src/interfaces/mod.ts";
import type { LoadedScope } from "../../src/index/resident_scope.ts";
import type { ScopeIndex } from "../../src/index/scope_index.ts";
import { turns } from "../within.ts";

/** The vector, scaled to unit length. */
export function unit(...numbers: number[]): Float32Array {
  const length = Math.hypot(...numbers);
  return Float32Array.from(numbers, (x) => x / length);
}

/** Cosine distance of every memory's closest window, in the order of the entries. */
export function distancesIn(loaded: LoadedScope, vector: Float32Array): number[] {
  const found = loaded.match({ vector }, { limit: loaded.size });
  const distances = new Map(found.map(({ entry, distance }) => [entry.id, distance]));
  return loaded.entries().map(({ id }) => distances.get(id) ?? 2);
}

/** A scope that is used at once; it may be evicted. */
export function load(
  index: ScopeIndex,
  scope: Scope,
  options?: CallOptions,
): Promise<LoadedScope> {
  return index.read(scope, (loaded) => loaded, options);
}

/** Has a scope dropped by an entry that it cannot take. */
export function dropFrom(index: ScopeIndex, scope: Scope): void {
  index.apply([entryOf("?", [new Float32Array(1)], scope)]);
}

/** A scope of the owner `0x01`. */
export function scopeOf(namespace: string): Scope {
  return { owner: "0x01", namespace };
}

/** An entry of {@linkcode scopeOf}`("a")` unless told otherwise. */
export function entryOf(
  id: string,
  vectors: readonly Float32Array[],
  rest: Partial<IndexEntry> = {},
): IndexEntry {
  return {
    ...scopeOf("a"),
    id,
    version: 1,
    vectors,
    payload: new Uint8Array(10),
    keyId: "k",
    createdAt: 1000,
    updatedAt: 1000,
    importance: 0.5,
    source: "remember",
    bytes: 100,
    ...rest,
  };
}

/** Cosine distance of the closest window, in doubles. */
export function distanceOf(query: Float32Array, vectors: readonly Float32Array[]): number {
  const length = Math.hypot(...query);
  const cosines = vectors.map((v) => v.reduce((sum, x, i) => sum + x * query[i]!, 0) / length);
  return Math.min(2, Math.max(0, 1 - Math.max(-1, ...cosines)));
}

/** A scan that waits for its answer. */
export interface WaitingScan {
  readonly scope: Scope;
  readonly cursor: string | undefined;
  readonly signal: AbortSignal | undefined;
  answer(entries: readonly IndexEntry[], cursor?: string): void;
  fail(error: Error): void;
}

/** A vector store whose scans are answered by the test. */
export class WaitingStore implements Pick<VectorStore, "scan"> {
  /** Scans that were asked for and not answered. */
  readonly waiting: WaitingScan[] = [];
  /** Number of scans asked for. */
  asked = 0;

  scan(scope: Scope, cursor?: string, options?: CallOptions): Promise<ScanPage> {
    this.asked++;
    const { promise, resolve, reject } = Promise.withResolvers<ScanPage>();
    this.waiting.push({
      scope,
      cursor,
      signal: options?.signal,
      answer: (entries, next) =>
        resolve(next === undefined ? { entries } : { entries, cursor: next }),
      fail: reject,
    });
    return promise;
  }

  /** The oldest waiting scan, once the event loop has turned. */
  async next(): Promise<WaitingScan> {
    while (this.waiting.length === 0) await turns();
    return this.waiting.shift()!;
  }
}

/** A vector store that answers from a list, at once. */
export class ListStore implements Pick<VectorStore, "scan"> {
  asked = 0;
  /** Pages whose memory was given back. */
  released = 0;
  constructor(readonly entries: IndexEntry[], readonly pageSize = 100) {}

  scan(scope: Scope, cursor = "0"): Promise<ScanPage> {
    this.asked++;
    const own = this.entries.filter((entry) =>
      entry.owner === scope.owner && entry.namespace === scope.namespace
    );
    const end = Number(cursor) + this.pageSize;
    const entries = own.slice(Number(cursor), end);
    return Promise.resolve({
      entries,
      ...(end < own.length ? { cursor: String(end) } : {}),
      release: () => void this.released++,
    });
  }
}
