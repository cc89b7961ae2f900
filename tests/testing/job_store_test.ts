import { memoryJobs } from "../../plugins/memory/mod.ts";
import type { JobStore } from "../../src/interfaces/mod.ts";
import { conform, type JobPlace, jobStoreSuite } from "../../testing/mod.ts";
import { mutants } from "./mutants.ts";

conform(jobStoreSuite, "memory", memoryJobs);

/** Every opening is broken in the same way. */
function each(change: (store: JobStore) => Partial<JobStore>) {
  return (place: JobPlace): Partial<JobPlace> => ({
    async open(options) {
      const store = await place.open(options);
      return { ...store, ...change(store) };
    },
  });
}

mutants(jobStoreSuite, () => memoryJobs() as JobPlace, [
  {
    name: "accepts a request whose nonce was used",
    fails: ["takes a nonce once, whoever brings it"],
    change: each((store) => ({
      accept: (jobs, notes) => store.accept(jobs, notes.filter((note) => !("nonce" in note))),
    })),
  },
  {
    name: "keeps jobs of a request that it refuses",
    fails: [
      "takes a nonce once, whoever brings it",
      "keeps one answer to a text and to a key, the first",
    ],
    change: each((store) => ({
      async accept(jobs, notes) {
        const leases = await store.accept(jobs, []);
        await store.accept([], notes);
        return leases;
      },
    })),
  },
  {
    name: "asks nobody for a lease",
    fails: ["refuses whatever comes late from an earlier opening"],
    change: each((store) => ({
      progress: (lease, progress) => store.progress(lease, progress).catch(() => {}),
      saveStep: (lease, step) => store.saveStep(lease, step).catch(() => {}),
    })),
  },
  {
    name: "claims more than it is asked for",
    fails: ["claims the oldest first, each once, and no more than asked for"],
    change: each((store) => ({ claim: () => store.claim(100) })),
  },
  {
    name: "claims a job again and again",
    fails: ["claims the oldest first, each once, and no more than asked for"],
    change: each((store) => {
      const all: Awaited<ReturnType<JobStore["claim"]>>[number][] = [];
      return {
        async claim(limit) {
          all.push(...await store.claim(limit));
          return all.slice(0, limit);
        },
      };
    }),
  },
  {
    name: "loses what is held by others while it is renewed",
    fails: ["refuses whatever comes late from an earlier opening"],
    change: each(() => ({ renew: () => Promise.resolve(true) })),
  },
  {
    name: "renews nothing",
    fails: ["keeps what an opening has as long as it is renewed"],
    change: each((store) => {
      let calls = 0;
      return { renew: async () => calls++ === 0 || await store.isUnfinished("") };
    }),
  },
  {
    name: "sweeps staged bytes that a job refers to",
    fails: ["sweeps staged bytes that nothing refers to, and no others"],
    change: each((store) => {
      const lost = new Set<string>();
      return {
        async stage(bytes, inline) {
          const stored = await store.stage(bytes, inline);
          if ("stage" in stored) lost.add(stored.stage);
          return stored;
        },
        async sweep(staged, noted) {
          await store.sweep(staged, noted);
          return staged === 0 ? 0 : lost.size;
        },
      };
    }),
  },
  {
    name: "forgets whatever record a job has",
    fails: ["forgets a record with its bytes, unless it is another one by now"],
    change: each((store) => ({
      async forget({ id }) {
        const record = await store.ended(id);
        if (record !== undefined) await store.forget(record);
      },
    })),
  },
  {
    name: "looks for records in all namespaces of an owner",
    fails: ["keeps records of hostile namespaces apart"],
    change: each((store) => {
      const namespaces = new Set<string>();
      return {
        async end(lease, ended) {
          namespaces.add(ended.namespace);
          await store.end(lease, ended);
        },
        async held({ owner }, memoryId) {
          const found = await Promise.all(
            [...namespaces].map((namespace) => store.held({ owner, namespace }, memoryId)),
          );
          return found.flat();
        },
      };
    }),
  },
  {
    name: "never lets go of a record",
    fails: ["lets go of a deletion that is done"],
    change: each((store) => ({ replace: (ended) => store.replace(ended) })),
  },
  {
    name: "loses the result of a job that is tried again",
    fails: ["tries a failed job again, with its payload and its result"],
    change: each((store) => ({
      retry: (ended, progress, notes) => {
        const { step: _, ...rest } = ended;
        return store.replace(rest).then(() => store.retry(rest, progress, notes));
      },
    })),
  },
  {
    name: "forgets how far a job came",
    fails: ["keeps how far a job came, and its result"],
    change: each(() => ({ progress: () => Promise.resolve() })),
  },
]);
