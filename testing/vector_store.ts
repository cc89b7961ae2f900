import type { VectorStore } from "../src/interfaces/mod.ts";
import { entry, unit, uuid } from "./index_entry.ts";
import { abortLaw, type Calls, disposalLaw, objectId } from "./law.ts";
import type { Suite } from "./suite.ts";
import { VERSION_CASES } from "./vector_store_versions.ts";
import { SCOPE_CASES } from "./vector_store_scopes.ts";
import { SEARCH_CASES } from "./vector_store_search.ts";

export { SUITE_DIMENSIONS } from "./index_entry.ts";

const SCOPE = { owner: objectId("a"), namespace: "default" };

const calls: Calls<VectorStore> = (store, signal) => ({
  upsert: () => store.upsert([entry(SCOPE, 1)], { signal }),
  link: () => store.link(SCOPE, [{ id: uuid(1), version: 1, blobId: "b" }], { signal }),
  search: () => store.search({ ...SCOPE, vector: unit(1), limit: 1 }, { signal }),
  get: () => store.get(SCOPE.owner, [uuid(1)], { signal }),
  scan: () => store.scan(SCOPE, undefined, { signal }),
  scopes: () => store.scopes(SCOPE.owner, { signal }),
  delete: () => store.delete(SCOPE, [uuid(1)], { signal }),
});

/**
 * What every {@linkcode VectorStore} promises. The vectors have 32 numbers
 * ({@linkcode SUITE_DIMENSIONS}): make the store for that length. Every case makes its own store,
 * which must be empty.
 */
export const vectorStoreSuite: Suite<VectorStore> = {
  name: "VectorStore",
  cases: [
    ...SEARCH_CASES,
    ...VERSION_CASES,
    ...SCOPE_CASES,
    abortLaw<VectorStore>(calls),
    disposalLaw<VectorStore>("storage_unavailable", calls),
  ],
};
