import type { IndexEntry, Scope, VectorStore } from "../../interfaces/mod.ts";
import type { OpenPlace } from "./place.ts";

/** Entries that the store answers for one question or takes in one call. */
const PAGE = 250;

/** The rows of a scope, page by page; a page means nothing once the next one was asked for. */
export async function* pagesOf(
  store: VectorStore,
  scope: Scope,
): AsyncGenerator<readonly IndexEntry[]> {
  let cursor: string | undefined;
  do {
    const page = await store.scan(scope, cursor);
    for (let at = 0; at < page.entries.length; at += PAGE) {
      yield page.entries.slice(at, at + PAGE);
    }
    page.release?.();
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/**
 * Copies a scope's rows that are not there yet.
 *
 * @param take Is told of every page.
 */
export async function copyIndex(
  from: OpenPlace,
  to: OpenPlace,
  scope: Scope,
  take: (entries: readonly IndexEntry[]) => Promise<void>,
): Promise<void> {
  const { vectorStore } = to.backends;
  for await (const entries of pagesOf(from.backends.vectorStore, scope)) {
    const found = await vectorStore.get(scope.owner, entries.map(({ id }) => id));
    const there = new Map(found.map((entry) => [entry.id, entry]));
    const missing = entries.filter(({ id, version, blobId }) => {
      const known = there.get(id);
      return known?.version !== version || known.blobId !== blobId;
    });
    if (missing.length > 0) await vectorStore.upsert(missing);
    await take(entries);
  }
  await copyLastWrite(from, to, scope);
}

/** Lets a scope have been written last when it was, also where what was written is gone again. */
async function copyLastWrite(from: OpenPlace, to: OpenPlace, scope: Scope): Promise<void> {
  const at = async ({ backends: { vectorStore } }: OpenPlace) =>
    (await vectorStore.scopes(scope.owner)).find(({ namespace }) => namespace === scope.namespace)
      ?.lastWriteAt;
  const [written, known] = [await at(from), await at(to)];
  if (written === undefined || written === known) return;
  const id = crypto.randomUUID();
  await to.backends.vectorStore.upsert([{
    ...scope,
    id,
    version: 1,
    vectors: [],
    payload: new Uint8Array(),
    keyId: "",
    createdAt: written,
    updatedAt: written,
    importance: 0,
    source: "manual",
    bytes: 0,
  }]);
  await to.backends.vectorStore.delete(scope, [id]);
}
