import { memoryVectorStore } from "../../plugins/memory/mod.ts";
import type { IndexEntry, VectorMatch, VectorStore } from "../../src/interfaces/mod.ts";
import { conform, vectorStoreSuite } from "../../testing/mod.ts";
import { type Mutant, mutants } from "./mutants.ts";

conform(vectorStoreSuite, "memory", memoryVectorStore);

function onMatches(change: (matches: VectorMatch[]) => VectorMatch[]) {
  return (store: VectorStore): Partial<VectorStore> => ({
    search: async (query, options) => change(await store.search(query, options)),
  });
}

/** Changes entries on their way out of `get`. */
function onRead(change: (entry: IndexEntry) => IndexEntry) {
  return (store: VectorStore): Partial<VectorStore> => ({
    get: async (owner, ids, options) => (await store.get(owner, ids, options)).map(change),
  });
}

function onWrite(change: (entry: IndexEntry) => IndexEntry) {
  return (store: VectorStore): Partial<VectorStore> => ({
    upsert: (entries, options) => store.upsert(entries.map(change), options),
  });
}

async function storedOf(store: VectorStore, { owner, namespace, id }: IndexEntry) {
  const found = await store.get(owner, [id]);
  return found.find((entry) => entry.namespace === namespace);
}

const SEARCH_MUTANTS: Mutant<VectorStore>[] = [
  {
    name: "answers farthest first",
    fails: ["answers nearest first, with cosine distance from 0 to 2", "honours the limit"],
    change: (store) => ({
      search: async (query, options) =>
        (await store.search({ ...query, limit: 1e6 }, options)).reverse().slice(0, query.limit),
    }),
  },
  {
    name: "finds memories without vectors too",
    fails: ["keeps a memory without vectors, and never finds it"],
    change: (store) => ({
      search: async (query, options) => {
        const { entries } = await store.scan(query);
        const bare = entries.filter(({ vectors }) => vectors.length === 0);
        const found = await store.search(query, options);
        return [...found, ...bare.map((entry) => ({ entry, distance: 1 }))];
      },
    }),
  },
  {
    name: "halves the distance",
    fails: ["answers nearest first, with cosine distance from 0 to 2"],
    change: onMatches((matches) =>
      matches.map(({ entry, distance }) => ({ entry, distance: distance / 2 }))
    ),
  },
  {
    name: "ignores the limit",
    fails: ["honours the limit"],
    change: (store) => ({
      search: (query, options) => store.search({ ...query, limit: 1e6 }, options),
    }),
  },
  {
    name: "answers 100 memories at most",
    fails: ["answers 600 memories to who asks for as many"],
    change: (store) => ({
      search: (query, options) =>
        store.search({ ...query, limit: Math.min(100, query.limit) }, options),
    }),
  },
  {
    name: "compares the first window only",
    fails: ["takes the closest window of a memory"],
    change: onWrite((entry) => ({ ...entry, vectors: entry.vectors.slice(0, 1) })),
  },
  {
    name: "answers one match a window",
    fails: ["answers a memory once, though many windows match"],
    change: onMatches((matches) =>
      matches.flatMap((match) => match.entry.vectors.map(() => match)).slice(0, 3)
    ),
  },
  {
    name: "misses every other neighbour",
    fails: ["finds the exact neighbours among 500"],
    change: onMatches((matches) => matches.filter(({ entry }) => /[02468ace]$/.test(entry.id))),
  },
  {
    name: "shows a write only after the next one",
    fails: ["shows a write to the next call"],
    change(store) {
      let late: readonly IndexEntry[] = [];
      return {
        async upsert(entries, options) {
          const due = late;
          late = entries;
          await store.upsert(due, options);
        },
      };
    },
  },
  {
    name: "loses upserts that overlap",
    fails: ["keeps all of 50 concurrent upserts"],
    change(store) {
      let busy = false;
      return {
        async upsert(entries, options) {
          if (busy) return;
          busy = true;
          await store.upsert(entries, options).finally(() => busy = false);
        },
      };
    },
  },
  {
    name: "inserts twice when upserts of one id overlap",
    fails: ["keeps one of 10 concurrent upserts of one id"],
    change(store) {
      let running = 0;
      const copies: IndexEntry[] = [];
      return {
        async upsert(entries, options) {
          if (running++ > 0) copies.push(...entries);
          await store.upsert(entries, options).finally(() => running--);
        },
        async search(query, options) {
          const doubled = copies.map((entry) => ({ entry, distance: 0 }));
          return [...await store.search(query, options), ...doubled];
        },
      };
    },
  },
  {
    name: "loses what is replaced beside the search",
    fails: ["answers a memory that is replaced beside the search, once"],
    change: (store) => ({
      async search(query, options) {
        const found = await store.search(query, options);
        const now = await store.get(query.owner, found.map(({ entry }) => entry.id));
        const live = new Set(now.map(({ id, version }) => `${id} ${version}`));
        return found.filter(({ entry }) => live.has(`${entry.id} ${entry.version}`));
      },
    }),
  },
  {
    name: "answers what is replaced beside the search in both versions",
    fails: ["answers a memory that is replaced beside the search, once"],
    change: (store) => ({
      async search(query, options) {
        const found = await store.search(query, options);
        const again = await store.search(query, options);
        const versions = new Map([...found, ...again].map((match) => [
          `${match.entry.namespace} ${match.entry.id} ${match.entry.version}`,
          match,
        ]));
        return [...versions.values()];
      },
    }),
  },
  {
    name: "searches without the signal",
    fails: ["rejects with the reason of an aborted signal"],
    change: (store) => ({ search: (query) => store.search(query) }),
  },
  {
    name: "goes on after disposal",
    fails: ["rejects with storage_unavailable after disposal"],
    change: () => ({ [Symbol.asyncDispose]: () => Promise.resolve() }),
  },
];

const ROW_MUTANTS: Mutant<VectorStore>[] = [
  {
    name: "keeps importance in 32 bits",
    fails: ["keeps every member exactly"],
    change: onWrite((entry) => ({ ...entry, importance: Math.fround(entry.importance) })),
  },
  {
    name: "makes absent times 0",
    fails: ["keeps absent members absent"],
    change: onRead((entry) => ({ ...entry, occurredAt: entry.occurredAt ?? 0 })),
  },
  {
    name: "cuts payloads at 8 KiB",
    fails: ["keeps every member exactly"],
    change: onWrite((entry) => ({ ...entry, payload: entry.payload.slice(0, 8192) })),
  },
  {
    name: "keeps the caller's arrays",
    fails: ["keeps its own copy of the caller's arrays"],
    change(store) {
      const given = new Map<string, IndexEntry>();
      return {
        async upsert(entries, options) {
          for (const entry of entries) given.set(entry.id, entry);
          await store.upsert(entries, options);
        },
        get: async (owner, ids, options) =>
          (await store.get(owner, ids, options)).map((entry) => ({
            ...entry,
            payload: given.get(entry.id)!.payload,
          })),
      };
    },
  },
  {
    name: "takes lower versions",
    fails: ["ignores a lower version", "keeps a link when a lower version is ignored"],
    change: (store) => ({
      async upsert(entries, options) {
        for (const entry of entries) await store.delete(entry, [entry.id]);
        await store.upsert(entries, options);
      },
    }),
  },
  {
    name: "keeps the first of equal versions",
    fails: ["replaces a memory by the same version"],
    change: (store) => ({
      async upsert(entries, options) {
        for (const entry of entries) {
          const stored = await storedOf(store, entry);
          if (stored?.version !== entry.version) await store.upsert([entry], options);
        }
      },
    }),
  },
  {
    name: "compares versions as text",
    fails: ["keeps the highest of several versions in one call"],
    change: (store) => ({
      async upsert(entries, options) {
        for (const entry of entries) {
          const stored = await storedOf(store, entry);
          if (stored !== undefined && `${entry.version}` < `${stored.version}`) continue;
          await store.delete(entry, [entry.id]);
          await store.upsert([entry], options);
        }
      },
    }),
  },
  {
    name: "links whatever the version",
    fails: ["ignores links of unknown ids, other versions and other scopes"],
    change: (store) => ({
      async link(scope, links, options) {
        const stored = await store.get(scope.owner, links.map(({ id }) => id));
        const versions = new Map(stored.map(({ id, version }) => [id, version]));
        const bent = links.map((link) => ({ ...link, version: versions.get(link.id) ?? 0 }));
        await store.link(scope, bent, options);
      },
    }),
  },
  {
    name: "carries a link over to the next version",
    fails: ["drops the link of an older version"],
    change: (store) => ({
      async upsert(entries, options) {
        for (const entry of entries) {
          const blobId = (await storedOf(store, entry))?.blobId;
          await store.upsert([blobId === undefined ? entry : { blobId, ...entry }], options);
        }
      },
    }),
  },
];

mutants(vectorStoreSuite, memoryVectorStore, [...SEARCH_MUTANTS, ...ROW_MUTANTS]);
