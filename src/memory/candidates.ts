import type { Match, ScopeQuery, SearchOptions } from "../index/loaded_scope.ts";
import type { IndexEntry, Scope } from "../interfaces/mod.ts";
import type { Caller, Domain } from "./domain.ts";
import { openMemories } from "./open.ts";

/** Scopes of so many memories are loaded, whatever the budget: a moment's work and memory. */
const SMALL = 20_000;
/** Memories the vector store is asked for at first and, where filters leave too few, at most. */
const NEAREST = 500;
const MOST = 8_000;

/** A search whose filter is known. */
type FilteredSearch = SearchOptions & Required<Pick<SearchOptions, "accept">>;

/** Whose operators have been told. */
const told = new WeakSet<Domain>();

/** Whether a scope is not in RAM and would not fit into the budget of the index. */
export async function isTooLarge(domain: Domain, scope: Scope): Promise<boolean> {
  if (domain.index.holds(scope)) return false;
  const scopes = await domain.vectorStore.scopes(scope.owner);
  const count = scopes.find(({ namespace }) => namespace === scope.namespace)?.count ?? 0;
  if (count <= SMALL || domain.index.fits(count)) return false;
  if (!told.has(domain)) domain.logger.warn("namespace_above_index_memory", { memories: count });
  told.add(domain);
  return true;
}

/**
 * The memories that answer a query best among those of a scope whose vectors are nearest to it, for
 * scopes that are too large to be loaded. They are scored as a loaded scope's are; what their words
 * tell is counted among them alone.
 *
 * @throws {SvcError} what the vector store throws; `embedding_unavailable` where a query of words alone
 * cannot be embedded; why the texts cannot be opened for this caller.
 */
export async function matchNearest(
  domain: Domain,
  caller: Caller,
  scope: Scope,
  query: ScopeQuery,
  search: FilteredSearch,
): Promise<Match[]> {
  const { signal } = caller;
  const { text } = query;
  const vector = query.vector ?? (await domain.queries.get(text ?? "", signal)).vector;
  const near = await nearest(domain, scope, vector, search, signal);
  const opened = text === undefined ? [] : await openMemories(domain, caller, scope, near);
  const gathered = domain.index.gather(scope, near);
  try {
    for (const [i, item] of opened.entries()) {
      const { id, version } = near[i]!;
      if ("record" in item) gathered.setText(id, version, item.record.text);
    }
    return gathered.match(query, search);
  } finally {
    gathered.release();
  }
}

async function nearest(
  { vectorStore }: Domain,
  scope: Scope,
  vector: Float32Array,
  { limit, accept }: FilteredSearch,
  signal: AbortSignal | undefined,
): Promise<IndexEntry[]> {
  for (let asked = Math.max(NEAREST, 2 * limit);; asked *= 4) {
    const found = await vectorStore.search({ ...scope, vector, limit: asked }, { signal });
    const accepted = found.map(({ entry }) => entry).filter(accept);
    if (accepted.length >= limit || found.length < asked || asked >= MOST) return accepted;
  }
}
