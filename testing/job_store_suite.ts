import { rejects } from "node:assert/strict";
import { jobOf, type JobPlace, WORK_CASES } from "./job_store.ts";
import { RECORD_CASES } from "./job_store_records.ts";
import { SHARING_CASES } from "./job_store_sharing.ts";
import type { Case, Suite } from "./suite.ts";

export type { JobPlace, OpenJobsOptions } from "./job_store.ts";

const DISPOSAL: Case<JobPlace> = {
  name: "rejects with storage_unavailable after disposal",
  async run(make) {
    await using place = await make();
    const store = await place.open();
    const [lease] = await store.accept([jobOf(1)], []);
    await store[Symbol.asyncDispose]();
    const progress = { attempts: 1, recallable: false, due: 0 };
    const calls = {
      stage: () => store.stage(new Uint8Array(100_000)),
      accept: () => store.accept([jobOf(2)], []),
      claim: () => store.claim(1),
      progress: () => store.progress(lease!, progress),
      ended: () => store.ended(jobOf(1).id),
      endedBefore: () => store.endedBefore(1, 1),
    };
    for (const [name, call] of Object.entries(calls)) {
      await rejects(call, { name: "SvcError", code: "storage_unavailable" }, `${name} went on`);
    }
    return undefined;
  },
};

/**
 * What every {@linkcode JobStore} promises. A case is given a place, empty at first, which it opens
 * several times: one after the other, and at once where the store says that it is shared.
 */
export const jobStoreSuite: Suite<JobPlace> = {
  name: "JobStore",
  cases: [...WORK_CASES, ...RECORD_CASES, ...SHARING_CASES, DISPOSAL],
};
