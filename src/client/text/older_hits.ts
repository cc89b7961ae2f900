import type { Hit } from "../results.ts";

/** Of hits about the same thing those that a newer one, which stands before them, says otherwise than. */
export function olderHits(hits: readonly Hit[]): ReadonlySet<Hit> {
  const before = new Set<string>();
  const older = hits.filter(({ memory_id, conflicts_with = [] }) => {
    const isOlder = conflicts_with.some((id) => before.has(id));
    before.add(memory_id);
    return isOlder;
  });
  return new Set(older);
}
