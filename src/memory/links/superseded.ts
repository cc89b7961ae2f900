import type { Uses } from "../parts.ts";
import { SvcError } from "../../errors.ts";
import type { MemoryLink, Scope } from "../../interfaces/mod.ts";
import { scopeKey } from "../../interfaces/scope_key.ts";
import { type Caller, mayRead, scopeOf } from "../caller.ts";
import { storedEntries } from "../open.ts";

export type CheckingLinks = Uses<{
  vectorStore: "get";
  index: "read";
  jobs: "newestOf";
  tombstones: "isDeleted";
}>;

/** Longest chain of memories that took each other's place that is followed. */
const MOST_STEPS = 10_000;

const refused = (code: "memory_not_found" | "invalid_parameter", message: string) =>
  new SvcError(code, message, { field: "supersedes" });

/**
 * Checks the memories that a new one is to take the place of.
 *
 * @param id Of the memory that takes it; absent for a new one, which nothing can name yet.
 * @throws {SvcError} `memory_not_found` unless each is a memory of this namespace, which a caller that
 * may not read is not told; `invalid_parameter` where a memory would take its own place.
 */
export async function checkSuperseded(
  domain: CheckingLinks,
  caller: Caller,
  namespace: string,
  links: readonly MemoryLink[],
  id?: string,
): Promise<void> {
  const ids = links.filter(({ kind, by }) => kind === "supersedes" && by === "caller")
    .map((link) => link.id);
  if (ids.length === 0) return;
  if (id !== undefined && ids.includes(id)) {
    throw refused("invalid_parameter", "A memory cannot take its own place");
  }
  if (!mayRead(caller)) return;
  const scope = scopeOf(caller, namespace);
  const stored = await storedEntries(domain, scope.owner, ids);
  const isKnown = (one: string): boolean => {
    if (domain.tombstones.isDeleted(scope, one)) return false;
    const job = domain.jobs.newestOf(scope.owner, one);
    const places = [...stored.filter((entry) => entry.id === one), ...job ? [job.job] : []];
    return places.some((place) => scopeKey(place) === scopeKey(scope));
  };
  const unknown = ids.find((one) => !isKnown(one));
  if (unknown !== undefined) {
    throw refused("memory_not_found", "supersedes names no memory of this namespace");
  }
  if (id !== undefined && await leadsTo(domain, scope, ids, id)) {
    throw refused("invalid_parameter", "It would take its own place");
  }
}

/** Whether one of some memories took, by one step or several, the place of another. */
async function leadsTo(
  { index }: CheckingLinks,
  scope: Scope,
  from: readonly string[],
  id: string,
): Promise<boolean> {
  return await index.read(scope, (loaded) => {
    const seen = new Set(from);
    for (const one of seen) {
      if (one === id) return true;
      const memory = loaded.get(one);
      if (memory === undefined || seen.size > MOST_STEPS) continue;
      const { links = [] } = memory.standing ?? {};
      for (const link of links) if (link.kind === "supersedes") seen.add(link.id);
    }
    return false;
  });
}
