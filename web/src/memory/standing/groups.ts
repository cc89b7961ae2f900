import type { Memory } from "../../../../src/client/results.ts";

/** What is said of how a memory stands to others, and since when it counts. */
export type Dated =
  & Pick<Memory, "memory_id" | "created_at">
  & Partial<
    Pick<
      Memory,
      | "occurred_at"
      | "valid_from"
      | "valid_to"
      | "superseded_by"
      | "supersedes"
      | "conflicts_with"
      | "restates"
    >
  >;

/** Memories that are shown in one card, in each list the newest first. */
export interface Group<M> {
  /** What counts: more than one where they disagree. */
  readonly statements: readonly M[];
  /** What was shown besides, and they took the place of. */
  readonly replaced: readonly M[];
}

/** Since when a memory counts. */
export function startOf({ valid_from, occurred_at, created_at }: Dated): string {
  return valid_from ?? occurred_at ?? created_at;
}

/** Whether a memory is over: another one took its place, or its time has come. */
export function isOver({ superseded_by, valid_to }: Dated, now = Date.now()): boolean {
  return superseded_by !== undefined || (valid_to !== undefined && Date.parse(valid_to) <= now);
}

/** Orders memories by when they began to count, the newest first. */
export function newestFirst(a: Dated, b: Dated): number {
  return Date.parse(startOf(b)) - Date.parse(startOf(a)) ||
    Date.parse(b.created_at) - Date.parse(a.created_at) || (a.memory_id < b.memory_id ? 1 : -1);
}

/** The shown memory that took a memory's place, by as many steps as are shown; itself if none did. */
function lastOf<M extends Dated>(memory: M, shown: ReadonlyMap<string, M>): M {
  const seen = new Set<M>();
  let last = memory;
  while (!seen.has(last)) {
    seen.add(last);
    last = shown.get(last.superseded_by ?? "") ?? last;
  }
  return last;
}

/**
 * Puts memories that disagree, and those whose place was taken, to where the first of them is shown.
 *
 * @param memories In the order of the list.
 * @param together Ids of memories that are shown in one card though nothing says that they disagree.
 */
export function groupsOf<M extends Dated>(
  memories: readonly M[],
  together: readonly string[] = [],
): Group<M>[] {
  const shown = new Map(memories.map((memory) => [memory.memory_id, memory]));
  const groups = new Map<M, { statements: M[]; replaced: M[] }>();
  function openGroup(first: M): { statements: M[]; replaced: M[] } {
    const known = groups.get(first);
    if (known !== undefined) return known;
    const group = { statements: [] as M[], replaced: [] as M[] };
    const left = [first];
    for (const one of left) {
      if (groups.has(one)) continue;
      groups.set(one, group);
      group.statements.push(one);
      // What is over, or said by another one, disagrees with nothing.
      if (isOver(one) || one.restates !== undefined) continue;
      const others = together.includes(one.memory_id) ? together : [];
      for (const id of [...one.conflicts_with ?? [], ...others]) {
        const other = shown.get(id);
        if (other !== undefined && other.restates === undefined && !isOver(other)) left.push(other);
      }
    }
    return group;
  }
  for (const memory of memories) {
    const last = lastOf(memory, shown);
    const group = openGroup(last);
    if (last !== memory) group.replaced.push(memory);
  }
  return [...new Set(groups.values())].map(({ statements, replaced }) => ({
    statements: statements.sort(newestFirst),
    replaced: replaced.sort(newestFirst),
  }));
}
