import type { CallOptions, Scope, Source, Trust } from "./common.ts";

/** What ties a memory to another one of its namespace. */
export interface MemoryLink {
  /** Id of the other one. */
  readonly id: string;
  /**
   * `supersedes`: it takes the other one's place. `conflicts`: both say something about one thing, and
   * the newer is probably right. `restates`: it says what the other one says. `distinct`: neither of
   * that, whatever a rule finds.
   */
  readonly kind: "supersedes" | "conflicts" | "restates" | "distinct";
  /** The rule that found it; `caller` where the writer says so. */
  readonly by: string;
  /** How sure that is, 0 to 1. */
  readonly score: number;
  /** Version of the other one that was looked at; any where absent. */
  readonly version?: number;
}

/** When what a memory says is true, what it takes the place of, where it was said, and by whom. */
export interface Standing {
  /** Since when it is true, milliseconds since the epoch. */
  readonly validFrom?: number;
  /** Until when, milliseconds since the epoch. */
  readonly validTo?: number;
  /** What ties it to others. */
  readonly links?: readonly MemoryLink[];
  /** Made of what it is about by the relayer alone; the newest with one is the one that counts. */
  readonly keyDigest?: string;
  /** Made of its text by the relayer alone; equal for texts that say the same word for word. */
  readonly textDigest?: string;
  /** Made of the session it was said in by the relayer alone. */
  readonly sessionDigest?: string;
  /** Its place among what was said there, from 0. */
  readonly position?: number;
  /** Who says so, as far as that may be believed. */
  readonly trust?: Trust;
}

/** One memory in the index. Times are milliseconds since the epoch. */
export interface IndexEntry extends Scope {
  /** Memory id, a UUID. */
  readonly id: string;
  /** Version of the memory, from 1. */
  readonly version: number;
  /**
   * 1 to 16 window vectors, unit length; a memory is as close as its closest window. None: it has no
   * vectors of the present model, and no search by vector finds it.
   */
  readonly vectors: readonly Float32Array[];
  /** The sealed record when it is at most 16 KiB, else empty. */
  readonly payload: Uint8Array;
  /** Where the sealed record is stored; absent until it is. */
  readonly blobId?: string;
  /** Data key that sealed the record; empty for records the relayer cannot open. */
  readonly keyId: string;
  /** When the memory was accepted first. */
  readonly createdAt: number;
  /** When this version was accepted. */
  readonly updatedAt: number;
  /** When the fact happened. */
  readonly occurredAt?: number;
  /** When the memory stops being recallable. */
  readonly expiresAt?: number;
  /** 0 to 1. */
  readonly importance: number;
  /** Where the memory came from. */
  readonly source: Source;
  /** Absent where an earlier version wrote it. */
  readonly standing?: Standing;
  /** Size of the sealed record in bytes. */
  readonly bytes: number;
}

/** A nearest-neighbour question. */
export interface VectorQuery extends Scope {
  /** Embedding of the query, unit length. */
  readonly vector: Float32Array;
  /** Most matches to return, at least 1. */
  readonly limit: number;
}

/** One answer to a {@linkcode VectorQuery}. */
export interface VectorMatch {
  /** The memory. */
  readonly entry: IndexEntry;
  /** Cosine distance of the closest window: 0 (same direction) to 2 (opposite). */
  readonly distance: number;
}

/** A page of a scope, in a stable order. */
export interface ScanPage {
  /** Memories of the page. */
  readonly entries: readonly IndexEntry[];
  /**
   * Where the next page starts; absent on the last page. A scan that names one twice, or has more
   * than 100 empty pages in a row, is given up.
   */
  readonly cursor?: string;
  /**
   * Gives the page's memory back before garbage is collected; vectors and payloads of its entries are
   * gone afterwards. Optional for both sides.
   */
  release?(): void;
}

/** What one scope holds. */
export interface ScopeCount {
  /** Namespace of the scope. */
  readonly namespace: string;
  /** Number of memories. */
  readonly count: number;
  /** Sum of `bytes` of its memories. */
  readonly bytes: number;
  /** Largest `updatedAt` ever written, milliseconds since the epoch. */
  readonly lastWriteAt: number;
}

/** How many memories of a scope have vectors of another model. */
export interface OutdatedScope extends Scope {
  /** Number of memories. */
  readonly count: number;
}

/** Where a memory's sealed record was stored. */
export interface BlobLink {
  /** Memory id. */
  readonly id: string;
  /** Version the blob holds. */
  readonly version: number;
  /** Id in the blob store. */
  readonly blobId: string;
}

/**
 * Durable index rows, and search by vector inside one scope.
 *
 * `upsert`, `link` and `delete` are idempotent and durable once they resolve; what they wrote is
 * visible to the next call at once. An id is unique in its scope: of several versions the highest
 * stays. A memory that is replaced beside a search is answered once, in the old or the new version.
 * Verify an implementation with `vectorStoreSuite` of `@svc/relayer/testing`.
 */
export interface VectorStore extends AsyncDisposable {
  /**
   * Whether bytes of removed memories stay, sealed, where no call can overwrite them, such as in the
   * log and the free pages of a database server: no deletion is then called erased.
   */
  readonly leavesDeleted?: boolean;
  /** Inserts or replaces entries; one with a lower version than the stored one is ignored. */
  upsert(entries: readonly IndexEntry[], options?: CallOptions): Promise<void>;
  /** Records the blob of entries; unknown ids and other versions are ignored. */
  link(scope: Scope, links: readonly BlobLink[], options?: CallOptions): Promise<void>;
  /** Nearest memories of one scope, nearest first, each at most once. */
  search(query: VectorQuery, options?: CallOptions): Promise<VectorMatch[]>;
  /** The owner's memories with these ids, in whatever namespace; unknown ids are left out. */
  get(owner: string, ids: readonly string[], options?: CallOptions): Promise<IndexEntry[]>;
  /** The memories of a scope, page by page, each exactly once while nothing is written. */
  scan(scope: Scope, cursor?: string, options?: CallOptions): Promise<ScanPage>;
  /** What each of the owner's scopes holds, ordered by namespace; empty scopes are left out. */
  scopes(owner: string, options?: CallOptions): Promise<ScopeCount[]>;
  /**
   * Scopes with memories whose vectors are of another model than the store was opened for. Such
   * memories are read without vectors; the vectors are kept, and are there again when the store is
   * opened for that model, until the memory is written. Absent where a store cannot hold vectors of
   * several models: it refuses to open for another one.
   */
  outdated?(options?: CallOptions): Promise<OutdatedScope[]>;
  /** Removes memories; unknown ids are ignored. */
  delete(scope: Scope, ids: readonly string[], options?: CallOptions): Promise<void>;
  /**
   * Overwrites what removed and replaced memories left in the store's files; afterwards none of their
   * bytes stands there. Absent where nothing is left behind. Rejects where it has to be tried again
   * later.
   */
  scrub?(options?: CallOptions): Promise<void>;
}
