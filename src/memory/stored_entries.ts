import type { CallOptions, IndexEntry, VectorStore } from "../interfaces/mod.ts";

/** Where the rows of memories are read by id. */
export interface StoredRows {
  readonly vectorStore: Pick<VectorStore, "get">;
}

/**
 * The owner's memories with these ids. What else a store answers is left out: it
 * belongs to somebody else, or would be taken for the memory that was asked for.
 */
export async function storedEntries(
  { vectorStore }: StoredRows,
  owner: string,
  ids: readonly string[],
  options?: CallOptions,
): Promise<IndexEntry[]> {
  const wanted = new Set(ids);
  const found = await vectorStore.get(owner, ids, options);
  return found.filter((entry) => entry.owner === owner && wanted.has(entry.id));
}
