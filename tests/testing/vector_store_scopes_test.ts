import { memoryVectorStore } from "../../plugins/memory/mod.ts";
import type { Scope, VectorStore } from "../../src/interfaces/mod.ts";
import { vectorStoreSuite } from "../../testing/mod.ts";
import { mutants } from "./mutants.ts";

const HOSTILE = "keeps hostile namespaces apart, byte for byte";

/** Every call sees another namespace than the one given. */
function folding(fold: (namespace: string) => string) {
  const folded = <S extends Scope>(scope: S): S => ({ ...scope, namespace: fold(scope.namespace) });
  return (store: VectorStore): Partial<VectorStore> => ({
    upsert: (entries, options) => store.upsert(entries.map(folded), options),
    search: (query, options) => store.search(folded(query), options),
    scan: (scope, cursor, options) => store.scan(folded(scope), cursor, options),
    link: (scope, links, options) => store.link(folded(scope), links, options),
    delete: (scope, ids, options) => store.delete(folded(scope), ids, options),
  });
}

mutants(vectorStoreSuite, memoryVectorStore, [
  {
    name: "folds case",
    fails: [HOSTILE],
    change: folding((namespace) => namespace.toLowerCase()),
  },
  {
    name: "trims namespaces",
    fails: [HOSTILE],
    change: folding((namespace) => namespace.trim()),
  },
  {
    name: "normalises Unicode",
    fails: [HOSTILE],
    change: folding((namespace) => namespace.normalize("NFC")),
  },
  {
    name: "ends namespaces at a null character",
    fails: [HOSTILE],
    change: folding((namespace) => namespace.split("\0")[0]!),
  },
  {
    name: "searches all of the owner's namespaces",
    fails: [HOSTILE],
    change: (store) => ({
      async search(query, options) {
        const scopes = await store.scopes(query.owner);
        const found = await Promise.all(
          scopes.map(({ namespace }) => store.search({ ...query, namespace }, options)),
        );
        return found.flat().sort((a, b) => a.distance - b.distance).slice(0, query.limit);
      },
    }),
  },
  {
    name: "gets from one namespace only",
    fails: ["gets an owner's memories in whatever namespace"],
    change: (store) => ({
      get: async (owner, ids, options) =>
        (await store.get(owner, ids, options)).filter(({ namespace }) => namespace === "default"),
    }),
  },
  {
    name: "deletes in all of the owner's namespaces",
    fails: [
      "deletes in the scope named and in no other",
      "keeps memories of one id in several scopes",
    ],
    change: (store) => ({
      async delete({ owner }, ids, options) {
        for (const { namespace } of await store.scopes(owner)) {
          await store.delete({ owner, namespace }, ids, options);
        }
      },
    }),
  },
  {
    name: "repeats the last memory of a page on the next",
    fails: ["scans each of 600 memories exactly once"],
    change: (store) => ({
      async scan(scope, cursor, options) {
        const { entries, ...next } = await store.scan(scope, cursor, options);
        return { entries: cursor === undefined ? entries : [...entries, entries.at(-1)!], ...next };
      },
    }),
  },
  {
    name: "ends a scan after the first page",
    fails: ["scans each of 600 memories exactly once"],
    change: (store) => ({
      scan: async (...given) => ({ entries: (await store.scan(...given)).entries }),
    }),
  },
  {
    name: "scans in another order each time",
    fails: ["scans in the same order again"],
    change(store) {
      let turn = 0;
      return {
        async scan(...given) {
          const page = await store.scan(...given);
          return { ...page, entries: turn++ % 2 === 0 ? page.entries : page.entries.toReversed() };
        },
      };
    },
  },
  {
    name: "counts every upsert",
    fails: ["counts a replaced memory once, with its new size"],
    change(store) {
      let upserts = 0;
      return {
        async upsert(entries, options) {
          upserts += entries.length;
          await store.upsert(entries, options);
        },
        scopes: async (owner, options) =>
          (await store.scopes(owner, options)).map((scope) => ({ ...scope, count: upserts })),
      };
    },
  },
  {
    name: "forgets the last write with its memory",
    fails: ["leaves out scopes that became empty and remembers the last write"],
    change: (store) => ({
      async scopes(owner, options) {
        const counts = await store.scopes(owner, options);
        return await Promise.all(counts.map(async (count) => {
          const { entries } = await store.scan({ owner, namespace: count.namespace });
          return { ...count, lastWriteAt: Math.max(...entries.map((entry) => entry.updatedAt)) };
        }));
      },
    }),
  },
  {
    name: "takes 1,000 ids of a call",
    fails: ["gets, links and deletes 2,000 memories in one call"],
    change: (store) => ({
      delete: (scope, ids, options) => store.delete(scope, ids.slice(0, 1000), options),
    }),
  },
]);
