import type { Uses } from "../parts.ts";
import { BoundedMap } from "../../bounded_map.ts";
import type { IndexedMemory, Match, ScopeQuery, SearchOptions } from "../../index/ranking.ts";
import type { IndexEntry, Scope, VectorQuery, VectorStore } from "../../interfaces/mod.ts";
import type { Caller } from "../caller.ts";
import { partsOf } from "../large_reads.ts";
import { type Opening, openMemories } from "../open.ts";
import type { Narrowing } from "./narrowing.ts";

/** Scopes up to this size are loaded whatever the budget: they take little time and RAM. */
const SMALL = { count: 20_000, bytes: 20_000 * 1024 };
/** Memories the vector store is asked for; more when a filter leaves some of them out. */
const NEAREST = 500;
const FILTERED = 2_000;
/** How long the large scopes of an owner are remembered, and for how many owners. */
const KNOWN_MS = 60_000;
const OWNERS = 1_000;

interface FilteredSearch extends SearchOptions {
  accept(memory: IndexedMemory): boolean;
  readonly narrowing: Pick<Narrowing, "isFiltered" | "counting">;
}

/** Scopes up to this size are loaded in a few milliseconds. */
const AT_HAND = 5_000;

/** Namespaces of an owner that are large. */
interface Large {
  /** Those that do not fit into the budget. */
  readonly namespaces: ReadonlySet<string>;
  /** Those that are not loaded in passing. */
  readonly slow: ReadonlySet<string>;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

type CountingScopes = Uses<{
  vectorStore: "scopes";
  index: "holds" | "fits";
  logger: true;
  now: true;
}>;

/** Knows scopes that do not fit into the budget of the index. */
export class LargeScopes {
  readonly #parts: CountingScopes;
  /** By owner; counting all namespaces of one takes a while where there are thousands. */
  readonly #owners = new BoundedMap<string, Large>(OWNERS);

  constructor(parts: CountingScopes) {
    this.#parts = parts;
  }

  /** Whether a scope is not in RAM and would not fit. */
  async has(scope: Scope): Promise<boolean> {
    if (this.#parts.index.holds(scope)) return false;
    return (await this.#large(scope.owner)).namespaces.has(scope.namespace);
  }

  /** Whether a scope is in RAM, or there in a few milliseconds. */
  async isAtHand(scope: Scope): Promise<boolean> {
    if (this.#parts.index.holds(scope)) return true;
    return !(await this.#large(scope.owner)).slow.has(scope.namespace);
  }

  async #large(owner: string): Promise<Large> {
    let large = this.#owners.get(owner);
    if (large === undefined || large.until <= this.#parts.now()) {
      large = await this.#count(owner);
      this.#owners.set(owner, large);
    }
    return large;
  }

  async #count(owner: string): Promise<Large> {
    const { vectorStore, index, logger, now } = this.#parts;
    const scopes = await vectorStore.scopes(owner);
    const large = scopes.filter((scope) => {
      const isSmall = scope.count <= SMALL.count && scope.bytes <= SMALL.bytes;
      return !isSmall && !index.fits(scope);
    });
    for (const { count } of large) logger.warn("namespace_above_index_memory", { memories: count });
    const namespaces = new Set(large.map(({ namespace }) => namespace));
    const slow = scopes.filter(({ count }) => count > AT_HAND);
    return {
      namespaces,
      slow: new Set(slow.map(({ namespace }) => namespace)),
      until: now() + KNOWN_MS,
    };
  }
}

export type SearchingLarge = Uses<{
  vectorStore: "search";
  index: "gather";
  queries: "get";
}, Opening>;

/**
 * The memories that answer a query best among those of a scope whose vectors are nearest to it, for
 * scopes that are too large to be loaded. They are scored as a loaded scope's are; what their words
 * tell is counted among them alone.
 *
 * @throws {SvcError} what the vector store throws; `embedding_unavailable` where a query of words alone
 * cannot be embedded; why the texts cannot be opened for this caller.
 */
export async function matchNearest(
  domain: SearchingLarge,
  caller: Caller,
  scope: Scope,
  query: ScopeQuery,
  search: FilteredSearch,
): Promise<Match[]> {
  const { signal } = caller;
  const { text } = query;
  const vector = query.vector ?? (await domain.queries.get(text ?? "", signal, scope.owner)).vector;
  const near = await nearest(domain.vectorStore, { ...scope, vector }, search, signal);
  const gathered = domain.index.gather(scope, near);
  try {
    // Part by part: all texts at once may be hundreds of megabytes.
    for (const part of text === undefined ? [] : partsOf(near)) {
      const opened = await openMemories(domain, caller, scope, part);
      for (const [i, item] of opened.entries()) {
        const { id, version } = part[i]!;
        if ("record" in item) gathered.setText(id, version, item.record.text);
      }
    }
    return gathered.match(query, {
      ...search,
      accept: search.narrowing.counting(gathered, search.accept),
    });
  } finally {
    gathered.release();
  }
}

async function nearest(
  vectorStore: Pick<VectorStore, "search">,
  query: Omit<VectorQuery, "limit">,
  { limit, accept, narrowing }: FilteredSearch,
  signal: AbortSignal | undefined,
): Promise<IndexEntry[]> {
  // Once: each search reads the whole scope.
  const asked = Math.max(narrowing.isFiltered ? FILTERED : NEAREST, 2 * limit);
  const found = await vectorStore.search({ ...query, limit: asked }, { signal });
  return found.map(({ entry }) => entry).filter(accept);
}
