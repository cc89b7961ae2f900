import type { Memory } from "../../../src/client/results.ts";

/** Memories of a namespace, newest first, as far as they were loaded. */
export interface MemoryPages {
  /** The first page, which is loaded again and again. */
  readonly newest: readonly Memory[];
  /** Whether there is more behind the first page. */
  readonly more: boolean;
  /** What was loaded before: older pages, and the first page as it was then. */
  readonly before: readonly Memory[];
}

/**
 * Whether the first page reaches what was loaded before: if not, there may be memories between them
 * that were never loaded.
 */
export function reaches(newest: readonly Memory[], before: readonly Memory[]): boolean {
  const known = new Set(before.map(({ memory_id }) => memory_id));
  return newest.some(({ memory_id }) => known.has(memory_id));
}

/**
 * The list to be shown. New memories push others off the first page; those come from what was
 * loaded before. What was loaded before and would belong on the first page, but is not there, was
 * deleted.
 */
export function mergePages({ newest, more, before }: MemoryPages): readonly Memory[] {
  const last = newest.at(-1);
  if (!more || last === undefined) return newest;
  const shown = new Set(newest.map(({ memory_id }) => memory_id));
  const older: Memory[] = [];
  for (const memory of before) {
    const { memory_id: id, created_at: time } = memory;
    if (shown.has(id) || Date.parse(time) > Date.parse(last.created_at)) continue;
    shown.add(id);
    older.push(memory);
  }
  return [...newest, ...older];
}
