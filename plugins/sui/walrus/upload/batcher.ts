import type { Scope } from "../../../../src/interfaces/mod.ts";
import { scopeKey } from "../../../../src/interfaces/scope_key.ts";
import { MAX_SYMBOL_BYTES, sourceSymbols } from "../quilt/geometry.ts";
import { MAX_PATCHES } from "../stored_blob.ts";
import type { Item } from "./upload.ts";

/** Items, in the order of arrival, that become one quilt, or one item that becomes a blob. */
export interface Batch extends Scope {
  readonly quilt: boolean;
  readonly items: readonly Item[];
}

/** Most bytes of items in one quilt; a larger item is a blob by itself. */
const MAX_BATCH_BYTES = 4_194_304;

/** How many times its usual wait a batch waits at most, while items keep coming. */
export const MAX_WAITS = 6;

/**
 * Items that wait for others of their scope. A lonely item waits `batchMs`; while others keep coming
 * within that time of each other, all of them wait on, up to {@linkcode MAX_WAITS} times as long.
 * When one batch is due, those of scopes that have waited for half of their time are taken with it,
 * so that their blobs share transactions.
 */
export class Batcher {
  readonly #batchMs: number;
  readonly #waiting = new Map<string, Item[]>();
  readonly #standalone: Item[] = [];

  /** @param batchMs Wait of a lonely item, in milliseconds. */
  constructor(batchMs: number) {
    this.#batchMs = batchMs;
  }

  get count(): number {
    return [this.#standalone, ...this.#waiting.values()].reduce(
      (sum, { length }) => sum + length,
      0,
    );
  }

  add(item: Item): void {
    if (item.standalone) this.#standalone.push(item);
    else this.#waiting.getOrInsertComputed(scopeKey(item), () => []).push(item);
  }

  /** Removes an item of a scope, if it waits here. */
  remove(scope: Scope, seq: number): void {
    const key = scopeKey(scope);
    for (const items of [this.#standalone, this.#waiting.get(key) ?? []]) {
      const at = items.findIndex((item) => item.seq === seq);
      if (at >= 0) items.splice(at, 1);
    }
    if (this.#waiting.get(key)?.length === 0) this.#waiting.delete(key);
  }

  /** When the next batch is due, milliseconds since the epoch; `Infinity` when nothing waits. */
  dueAt(now: number): number {
    if (this.#standalone.length > 0) return now;
    let due = Infinity;
    for (const items of this.#waiting.values()) due = Math.min(due, this.#due(items, now));
    return due;
  }

  /** Takes the batches that are due out, or all of them. */
  take(
    now: number,
    { maxPatches = MAX_PATCHES, maxBytes = MAX_BATCH_BYTES, all = false } = {},
  ): Batch[] {
    const batches: Batch[] = [];
    for (const item of this.#standalone.splice(0)) batches.push(batchOf([item], false));
    const due = all || this.dueAt(now) <= now;
    for (const [key, items] of this.#waiting) {
      const chunks = chunksOf(items, maxPatches, maxBytes);
      const last = chunks.at(-1) ?? [];
      const goes = isFull(last, maxPatches, maxBytes) || due && (all || this.#isRipe(last, now));
      const rest = goes ? [] : chunks.pop() ?? [];
      for (const chunk of chunks) {
        batches.push(batchOf(chunk, chunk.length > 1 || sizeOf(chunk) <= maxBytes));
      }
      if (rest.length === 0) this.#waiting.delete(key);
      else this.#waiting.set(key, rest);
    }
    return batches;
  }

  #due(items: readonly Item[], now: number): number {
    const [first, last] = [items[0], items.at(-1)];
    if (first === undefined || last === undefined) return Infinity;
    if (isFull(items, MAX_PATCHES, MAX_BATCH_BYTES)) return now;
    const latest = first.createdAt + MAX_WAITS * this.#batchMs;
    return Math.min(latest, last.createdAt + this.#batchMs);
  }

  #isRipe(items: readonly Item[], now: number): boolean {
    const first = items[0]?.createdAt ?? now;
    const due = this.#due(items, now);
    return due <= now || now - first >= (due - first) / 2;
  }
}

function batchOf(items: readonly Item[], quilt: boolean): Batch {
  const { owner, namespace } = items[0]!;
  return { owner, namespace, quilt, items };
}

function sizeOf(items: readonly Item[]): number {
  return items.reduce((sum, { size }) => sum + size, 0);
}

function isFull(items: readonly Item[], maxPatches: number, maxBytes: number): boolean {
  return items.length >= maxPatches || sizeOf(items) >= maxBytes;
}

/** Splits items, in their order, into as few chunks as quilts can hold. */
function chunksOf(items: readonly Item[], maxPatches: number, maxBytes: number): Item[][] {
  const chunks: Item[][] = [];
  let chunk: Item[] = [];
  let size = 0;
  for (const item of items) {
    const over = chunk.length >= maxPatches || size + item.size > maxBytes;
    if (over && chunk.length > 0) {
      chunks.push(chunk);
      [chunk, size] = [[], 0];
    }
    chunk.push(item);
    size += item.size;
  }
  if (chunk.length > 0) chunks.push(chunk);
  return chunks;
}

/**
 * How much a quilt holds at a number of shards. One column is for the index, one for the tombstones;
 * a quarter of the bytes fits however much the items differ in size.
 */
export function quiltLimits(shards: number): { maxPatches: number; maxBytes: number } {
  const { columns, rows } = sourceSymbols(shards);
  return {
    maxPatches: Math.max(1, columns - 2),
    maxBytes: Math.min(MAX_BATCH_BYTES, Math.floor(columns * rows * MAX_SYMBOL_BYTES / 4)),
  };
}
