/** One id, or several: nearly every group has one, and every memory is in one. */
export type Group = string | Set<string>;

/** The ids of a group. */
export function idsIn(group: Group | undefined): Iterable<string> {
  return typeof group === "string" ? [group] : group ?? [];
}

/** Adds an id to a group, which is made when it is missing. */
export function addTo(groups: Map<string, Group>, name: string, id: string): void {
  const known = groups.get(name);
  if (known === undefined) groups.set(name, id);
  else if (typeof known === "string") groups.set(name, new Set([known, id]));
  else known.add(id);
}

/** Takes an id out of a group, which goes with its last one. */
export function dropFrom(groups: Map<string, Group>, name: string, id: string): void {
  const known = groups.get(name);
  if (known === id) groups.delete(name);
  else if (typeof known === "object" && known.delete(id) && known.size === 0) groups.delete(name);
}
