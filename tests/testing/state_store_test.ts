import { memoryState } from "../../plugins/memory/mod.ts";
import type { StateStore } from "../../src/interfaces/mod.ts";
import { conform, type StatePlace, stateStoreSuite } from "../../testing/mod.ts";
import { mutants } from "./mutants.ts";

conform(stateStoreSuite, "memory", memoryState);

/** Every opening is broken in the same way. */
function each(change: (store: StateStore) => Partial<StateStore>) {
  return (place: StatePlace): Partial<StatePlace> => ({
    async open(options) {
      const store = await place.open(options);
      return { ...store, ...change(store) };
    },
  });
}

const LATE = "takes what has run out, and nothing late of whoever had it";

mutants(stateStoreSuite, () => memoryState() as StatePlace, [
  {
    name: "writes whatever it is given",
    fails: ["writes nothing of what stands on an older writing", LATE],
    change: each(({ ledger }) => ({
      ledger: {
        ...ledger,
        async write(part, _, change) {
          return await ledger.write(part, await ledger.revision(part), change) ?? 1;
        },
      },
    })),
  },
  {
    name: "removes nothing from a part",
    fails: ["keeps a part as it was written last, for whoever reads it"],
    change: each(({ ledger }) => ({
      ledger: {
        ...ledger,
        write: (part, revision, { put }) => ledger.write(part, revision, { put, gone: [] }),
      },
    })),
  },
  {
    name: "asks whoever has an owner to let go although it should not",
    fails: ["has an owner at one opening at a time, which learns that it is wanted"],
    change: each(({ owners }) => ({
      owners: { ...owners, take: (owner) => owners.take(owner, true) },
    })),
  },
  {
    name: "does not know that its leases ran out",
    fails: [LATE],
    change: each(({ owners }) => ({
      owners: {
        ...owners,
        renew: async () => ({ ...await owners.renew(), hadRunOut: false }),
      },
    })),
  },
  {
    name: "hands over everybody's jobs",
    fails: ["hands over the jobs of one owner, and tells of those nobody has"],
    change: each(({ jobs }) => ({
      jobs: {
        ...jobs,
        claim: async (limit, owner) => [
          ...await jobs.claim(limit, owner),
          ...await jobs.claim(limit, `0x${"b".repeat(64)}`),
        ],
      },
    })),
  },
  {
    name: "does not say that an owner is free",
    fails: ["tells at once who is wanted and free, where it hears of that"],
    change: each(({ owners }) => ({
      owners: { ...owners, watch: (calls) => owners.watch!({ ...calls, free() {} }) },
    })),
  },
  {
    name: "counts for each opening alone",
    fails: [
      "spends in all windows or in none, wherever that is",
      "lets no more pass than the limit, whoever comes at once",
    ],
    change: each(({ windows }) => {
      const own = crypto.getRandomValues(new Uint8Array(4));
      return {
        windows: {
          spend: (given, weight) =>
            windows.spend(
              given.map((window) => ({
                ...window,
                name: new Uint8Array([...window.name, ...own]),
              })),
              weight,
            ),
        },
      };
    }),
  },
  {
    name: "spends in those windows that have room",
    fails: ["spends in all windows or in none, wherever that is"],
    change: each(({ windows }) => ({
      windows: {
        async spend(given, weight) {
          const waits = await Promise.all(given.map((window) => windows.spend([window], weight)));
          return waits.flat().length === 0 ? [] : waits.map(([wait = 0]) => wait);
        },
      },
    })),
  },
  {
    name: "keeps records of before",
    fails: ["keeps the records that were written last, for whoever reads"],
    change: each(({ words }) => ({
      words: {
        ...words,
        write: async (scope, turn, records) =>
          await words.write(scope, turn, [...records, ...await words.read(scope)]),
      },
    })),
  },
  {
    name: "writes whatever it is given, whenever it was made",
    fails: ["writes no records of before a removal, or another writing"],
    change: each(({ words }) => ({
      words: {
        ...words,
        write: async (scope, _, records) =>
          await words.write(scope, await words.turn(scope), records),
      },
    })),
  },
  {
    name: "tells nobody whose words they are",
    fails: [
      "takes no records of an owner that is another opening's",
      "writes no records of before a removal, or another writing",
    ],
    change: each(({ words }) => ({
      words: { ...words, write: (...given) => words.write(...given).catch(() => {}) },
    })),
  },
  {
    name: "lets keys push each other out",
    fails: ["lets a key push out what it did, and nobody else"],
    change: each(({ activity }) => ({
      activity: {
        ...activity,
        async write(rows, perHolder) {
          const ids = await activity.write(rows, perHolder);
          for (const { account } of rows) {
            const page = await activity.page({ account, limit: 99 });
            await activity.write(page.slice(perHolder).map((row) => ({ ...row, account: "" })), 9);
          }
          return ids;
        },
      },
    })),
  },
  {
    name: "writes what was counted up once more",
    fails: ["tells what was done, wherever that was, newest first"],
    change: each(({ activity }) => ({
      activity: {
        ...activity,
        write: (rows, perHolder) =>
          activity.write(rows.map((row) => ({ ...row, id: 0 })), perHolder),
      },
    })),
  },
  {
    name: "forgets the order of what is over",
    fails: ["tells what is over, earliest first, until it is struck out"],
    change: each(({ expiries }) => ({
      expiries: {
        ...expiries,
        due: async (now, after) => (await expiries.due(now, after)).reverse(),
      },
    })),
  },
]);
