import type { IndexedMemory } from "../../index/ranking.ts";
import { startOf } from "../../index/relations.ts";
import type { LoadedScope } from "../../index/resident_scope.ts";

/** How a memory stands to others of its namespace. */
export interface RelationsView {
  /** The memory that took its place. */
  readonly supersededBy?: string;
  /** Memories whose place it took. */
  readonly supersedes?: readonly string[];
  /** Memories that say something else about the same thing. */
  readonly conflictsWith?: readonly string[];
  /** The memory that says the same and stands for it. */
  readonly restates?: string;
  /** Number of memories that say the same, for which it stands. */
  readonly restated?: number;
  /** When the last of them was accepted, milliseconds since the epoch. */
  readonly restatedAt?: number;
  /** The newest of them, the last one first. */
  readonly restatements?: readonly string[];
}

/** Most memories that say the same which are named. */
const NAMED = 20;

const NONE: RelationsView = {};

/** Ids of the newest of some memories. */
function newest(memories: readonly IndexedMemory[]): string[] {
  return [...memories].sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
    .slice(0, NAMED).map(({ id }) => id);
}

/**
 * Which memories count at a time, in milliseconds since the epoch: those that are not over by then, and
 * for which no other one stands. One that is hidden, because it was deleted, takes nobody's place.
 *
 * @param strictly Leaves out what was not true yet, or not known.
 */
export function countsAt(
  { relations }: Pick<LoadedScope, "relations">,
  at: number,
  isShown: (memory: IndexedMemory) => boolean,
  strictly: boolean,
): (memory: IndexedMemory) => boolean {
  return (memory) => {
    if (strictly && startOf(memory) > at) return false;
    const { validTo = Infinity } = memory.standing ?? {};
    if (validTo <= at) return false;
    if (relations.isAlone(memory)) return true;
    if (relations.supersededBy(memory, at, isShown) !== undefined) return false;
    const standing = relations.standsFor(memory);
    return standing === undefined || !isShown(standing);
  };
}

/**
 * How a memory stands to others at a time, in milliseconds since the epoch. Memories that are hidden,
 * because they are deleted or have expired, are not named.
 */
export function relationsOf(
  { relations }: Pick<LoadedScope, "relations">,
  memory: IndexedMemory,
  at: number,
  isShown: (memory: IndexedMemory) => boolean,
): RelationsView {
  if (relations.isAlone(memory)) return NONE;
  const ids = (memories: readonly IndexedMemory[]) => memories.filter(isShown).map(({ id }) => id);
  const superseding = relations.supersededBy(memory, at, isShown);
  const standing = relations.standsFor(memory);
  const supersedes = ids(relations.supersededOf(memory));
  const conflictsWith = ids(relations.conflicts(memory));
  const restatements = relations.restatements(memory).filter(isShown);
  const restated = restatements.length;
  const restatedAt = restatements.reduce((last, { createdAt }) => Math.max(last, createdAt), 0);
  return {
    ...(superseding === undefined ? {} : { supersededBy: superseding.id }),
    ...(supersedes.length === 0 ? {} : { supersedes }),
    ...(conflictsWith.length === 0 ? {} : { conflictsWith }),
    ...(standing === undefined || !isShown(standing) ? {} : { restates: standing.id }),
    ...(restated === 0 ? {} : { restated, restatedAt, restatements: newest(restatements) }),
  };
}
