import type { IndexEntry, Scope } from "../interfaces/mod.ts";

/** A memory of the index without its vectors. */
export type IndexedMemory = Omit<IndexEntry, "vectors">;

/** A memory and how far it is from the query. */
export interface Neighbour {
  /** The memory. */
  readonly entry: IndexedMemory;
  /** Cosine distance of the closest window: 0 (same direction) to 2 (opposite). */
  readonly distance: number;
}

/** Options of {@linkcode LoadedScope.search}. */
export interface SearchOptions {
  /** Most memories to answer. */
  readonly limit: number;
  /** Memories it refuses (expired ones, for example) are left out and do not count. */
  accept?(entry: IndexedMemory): boolean;
  /** Memories as far away, or farther, are left out. */
  readonly maxDistance?: number;
}

/** What a scope is asked; the legs it names are used. */
export interface ScopeQuery {
  /** Embedding of the query, of any length but zero; absent in a search by words alone. */
  readonly vector?: Float32Array;
  /** The query; absent in a search by meaning alone. */
  readonly text?: string;
  /** Share of the query that the embedder knows, 0 to 1; 1 when absent. Weighs the vector. */
  readonly known?: number;
}

/** A memory and how well it answers a query. */
export interface Match extends Neighbour {
  /** Larger is better; not bounded when both legs are used, else 0 to 1. */
  readonly score: number;
}

/**
 * How far the texts of a loaded scope are read, and what is known of its file. Whoever reads them
 * keeps it here, because it ends with the scope. Times are milliseconds since the epoch.
 */
export interface WordsProgress {
  /** Present while someone reads. */
  running: Promise<void> | undefined;
  /** Memories that could not be opened, and when to try again. */
  readonly failed: Map<string, number>;
  /** Texts in the file, as far as known. */
  saved: number;
  /** How often the file was dropped before it was read or written. */
  drops: number;
  /** When it was read last. */
  readAt: number;
  /** When it was written last. */
  writtenAt: number;
  /** Whether it is being written. */
  writing: boolean;
}

/**
 * One scope in RAM. It follows every change until it is evicted; from then on `released` is true,
 * `size` and `bytes` are 0, and every method throws `overloaded` instead of a partial answer.
 */
export interface LoadedScope {
  /** Whose memories. */
  readonly scope: Scope;
  /** How far its texts are read. */
  readonly progress: WordsProgress;
  /** Number of memories. */
  readonly size: number;
  /** Sum of `bytes` of the memories. */
  readonly bytes: number;
  /** Whether the scope was evicted: load it again. */
  readonly released: boolean;
  /** A memory by id. */
  get(id: string): IndexedMemory | undefined;
  /** Memories without vectors of the present model; no search finds them. */
  withoutVectors(): readonly IndexedMemory[];
  /** Every memory, in no useful order. The same array is changed by later writes. */
  entries(): readonly IndexedMemory[];
  /** Whether a memory's record is stored in this blob. */
  hasBlob(blobId: string): boolean;
  /** Number of memories whose record is stored in this blob. */
  countBlob(blobId: string): number;
  /**
   * The nearest memories, exactly: nearest first, of equally near ones the newer first, then by id.
   * @param vector Of any length but zero; its direction counts.
   * @throws {SvcError} `dimension_mismatch`, `invalid_vector`, `overloaded`.
   */
  search(vector: Float32Array, options: SearchOptions): Neighbour[];
  /**
   * The memories that answer a query best, best first; of equally good ones the newer first, then by
   * id. Of a search by words only those with something in common, at the distance 1 − score. Only
   * memories whose text was set are found by their words.
   * @throws {SvcError} `dimension_mismatch`, `invalid_vector`, `overloaded`.
   */
  match(query: ScopeQuery, options: SearchOptions): Match[];
  /** Memories whose text is not known here. */
  withoutText(): readonly IndexedMemory[];
  /** Number of memories whose text is known. */
  readonly texts: number;
  /**
   * What is known of the texts, in pieces that {@linkcode LoadedScope.takeWords} takes over, to be
   * copied one after the other while the scope may change; `undefined` where that is more than
   * `maxBytes`.
   */
  snapshotWords(maxBytes?: number): readonly Uint8Array[] | undefined;
  /**
   * Takes over texts of memories that are here in the same version. Answers whether it could: bytes
   * of another format or of another analysis are ignored. The bytes are written to afterwards: they
   * can be taken over once.
   */
  takeWords(saved: readonly Uint8Array[]): boolean;
  /** Sets the text of a memory; another version, an unknown id and a known text are ignored. */
  setText(id: string, version: number, text: string): void;
  /**
   * Cosine distance of every memory's closest window, in the order of `entries()`; 2 for memories
   * without vectors.
   * @throws {SvcError} `dimension_mismatch`, `invalid_vector`, `overloaded`.
   */
  distances(vector: Float32Array): Float32Array;
}
