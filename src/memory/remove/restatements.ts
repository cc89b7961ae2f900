import type { IndexedMemory } from "../../index/ranking.ts";
import type { LoadedScope } from "../../index/resident_scope.ts";
import type { Uses } from "../parts.ts";

/**
 * Memories for which another one stands, by one step or several: they say what it says. Those stay whose
 * correction was accepted and is not recallable yet: it says something else.
 */
export function restatementsOf(
  { jobs, tombstones }: Uses<{ jobs: "newestOf"; tombstones: "isDeleted" }>,
  loaded: LoadedScope,
  id: string,
): IndexedMemory[] {
  const { relations, scope } = loaded;
  const goesAlong = (one: IndexedMemory): boolean => {
    const { job } = jobs.newestOf(scope.owner, one.id) ?? {};
    if (job === undefined || job.version <= one.version) return true;
    return job.standing?.links?.some(({ kind }) => kind === "restates") === true;
  };
  const of = (one: IndexedMemory) => relations.restatements(one).filter(goesAlong);
  const memory = loaded.get(id);
  const found = new Set(memory === undefined ? [] : of(memory));
  for (const one of found) for (const other of of(one)) found.add(other);
  return [...found].filter((one) => one.id !== id && !tombstones.isDeleted(scope, one.id));
}
