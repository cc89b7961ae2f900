import type { IndexedMemory, Match, ScopeQuery, SearchOptions } from "../../index/loaded_scope.ts";
import type { IndexEntry, Scope } from "../../interfaces/mod.ts";
import type { Caller, Domain } from "../domain.ts";
import { openMemories } from "../open.ts";

/** Scopes of so many memories are loaded, whatever the budget: a moment's work and memory. */
const SMALL = { count: 20_000, bytes: 20_000 * 1024 };
/** Memories the vector store is asked for, and where some of them may be filtered out. */
const NEAREST = 500;
const FILTERED = 2_000;
/** How long it is known which scopes of an owner are large, and of how many owners. */
const KNOWN_MS = 60_000;
const OWNERS = 1_000;

/** A search whose filter is known. */
export interface FilteredSearch extends SearchOptions {
  accept(memory: IndexedMemory): boolean;
  /** Whether it leaves out more than a few. */
  readonly isFiltered: boolean;
}

/** Namespaces of an owner that are too large. */
interface Large {
  readonly namespaces: ReadonlySet<string>;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** By owner; counting all namespaces of one takes a while where there are thousands. */
const known = new WeakMap<Domain, Map<string, Large>>();

/** Whether a scope is not in RAM and would not fit into the budget of the index. */
export async function isTooLarge(domain: Domain, scope: Scope): Promise<boolean> {
  if (domain.index.holds(scope)) return false;
  const owners = known.get(domain) ?? new Map<string, Large>();
  known.set(domain, owners);
  let large = owners.get(scope.owner);
  if (large === undefined || large.until <= domain.now()) {
    large = await countLarge(domain, scope.owner);
    if (owners.size >= OWNERS) owners.clear();
    owners.set(scope.owner, large);
  }
  return large.namespaces.has(scope.namespace);
}

async function countLarge(domain: Domain, owner: string): Promise<Large> {
  const scopes = await domain.vectorStore.scopes(owner);
  const large = scopes.filter((scope) => {
    const isSmall = scope.count <= SMALL.count && scope.bytes <= SMALL.bytes;
    return !isSmall && !domain.index.fits(scope);
  });
  for (const { count } of large) {
    domain.logger.warn("namespace_above_index_memory", { memories: count });
  }
  const namespaces = new Set(large.map(({ namespace }) => namespace));
  return { namespaces, until: domain.now() + KNOWN_MS };
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
  { limit, accept, isFiltered }: FilteredSearch,
  signal: AbortSignal | undefined,
): Promise<IndexEntry[]> {
  // Once: each search reads the whole scope.
  const asked = Math.max(isFiltered ? FILTERED : NEAREST, 2 * limit);
  const found = await vectorStore.search({ ...scope, vector, limit: asked }, { signal });
  return found.map(({ entry }) => entry).filter(accept);
}
