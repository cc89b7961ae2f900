import { deepStrictEqual, ok, rejects } from "node:assert/strict";
import type { EndedJob, JobStore } from "../src/interfaces/mod.ts";
import { uuid } from "./index_entry.ts";
import {
  ACCEPTED_AT,
  claimAll,
  digestOf,
  doneOf,
  failedOf,
  JOB_SCOPE,
  jobOf,
  type JobPlace,
  LARGE,
  PROGRESS,
} from "./job_store.ts";
import { HOSTILE_NAMESPACES, law, objectId } from "./law.ts";
import type { Case } from "./suite.ts";

function opened(name: string, body: (store: JobStore) => Promise<void>): Case<JobPlace> {
  return law(name, async (place) => {
    await using store = await place.open();
    await body(store);
  });
}

/** Accepts a job and ends it with a record. */
async function end(store: JobStore, ended: EndedJob): Promise<void> {
  const { id, memoryId, owner, namespace, acceptedAt, payload } = ended;
  const job = jobOf(1, { id, memoryId, owner, namespace, acceptedAt });
  const [lease] = await store.accept([payload === undefined ? job : { ...job, payload }], []);
  if (ended.step !== undefined) await store.saveStep(lease!, ended.step);
  await store.end(lease!, ended);
}

const idsOf = (records: readonly EndedJob[]) => records.map(({ id }) => id);
const at = (number: number) => ({ endedAt: ACCEPTED_AT + number });

/** Records of ended jobs. */
export const RECORD_CASES: readonly Case<JobPlace>[] = [
  opened("lists ended jobs by time, up to a time and a number", async (store) => {
    for (const number of [30, 10, 20, 40]) await end(store, doneOf(jobOf(number), at(number)));
    deepStrictEqual(idsOf(await store.endedBefore(ACCEPTED_AT + 40, 9)), [10, 20, 30].map(uuid));
    deepStrictEqual(idsOf(await store.endedBefore(ACCEPTED_AT + 40, 2)), [10, 20].map(uuid));
    deepStrictEqual(await store.endedBefore(ACCEPTED_AT + 10, 9), []);
  }),
  opened("forgets a record with its bytes, unless it is another one by now", async (store) => {
    const payload = await store.stage(LARGE);
    const record = failedOf(jobOf(1, { payload }));
    await end(store, record);
    await store.forget({ ...record, endedAt: record.endedAt + 1 });
    deepStrictEqual(await store.ended(uuid(1)), record);
    await store.forget(record);
    await store.forget(record);
    deepStrictEqual(await store.ended(uuid(1)), undefined);
    deepStrictEqual(await store.read(payload), undefined);
    deepStrictEqual(await store.endedBefore(Infinity, 9), []);
    deepStrictEqual(await store.held(JOB_SCOPE), []);
  }),
  opened("finds ended jobs that hold bytes, by scope and memory", async (store) => {
    const step = { inline: Uint8Array.of(7) };
    const failed = failedOf(jobOf(1));
    const other = doneOf(jobOf(2, { memoryId: uuid(1) }), { step, mayBeIndexed: true });
    const deleted = doneOf(jobOf(3), { state: "failed", errorCode: "deleted", blobId: "b" });
    const unsure = failedOf(jobOf(5));
    for (const record of [failed, other, deleted, doneOf(jobOf(4)), unsure]) {
      await end(store, record);
    }
    const { payload: _, ...bare } = unsure;
    await store.replace({ ...bare, mayBeStored: true });
    deepStrictEqual(idsOf(await store.held(JOB_SCOPE)).sort(), [1, 2, 3, 5].map(uuid));
    deepStrictEqual(idsOf(await store.held(JOB_SCOPE, uuid(1))).sort(), [1, 2].map(uuid));
    deepStrictEqual(await store.held(JOB_SCOPE, uuid(3)), [deleted]);
    deepStrictEqual(await store.held(JOB_SCOPE, uuid(9)), []);
    deepStrictEqual(await store.held({ ...JOB_SCOPE, owner: objectId("b") }), []);
  }),
  opened("keeps records of hostile namespaces apart", async (store) => {
    for (const [number, namespace] of HOSTILE_NAMESPACES.entries()) {
      await end(store, failedOf(jobOf(number, { namespace, memoryId: uuid(1) })));
    }
    for (const [number, namespace] of HOSTILE_NAMESPACES.entries()) {
      const scope = { ...JOB_SCOPE, namespace };
      deepStrictEqual(idsOf(await store.held(scope)), [uuid(number)], namespace);
      deepStrictEqual(idsOf(await store.held(scope, uuid(1))), [uuid(number)], namespace);
    }
  }),
  opened("replaces a record, drops its bytes, and lets go of it", async (store) => {
    const [payload, step] = [await store.stage(LARGE), await store.stage(LARGE)];
    const record = failedOf(jobOf(1, { payload }), { step });
    await end(store, record);
    const { payload: _, ...rest } = record;
    await store.replace({ ...rest, expired: true });
    deepStrictEqual(await store.read(payload), undefined);
    deepStrictEqual(await store.read(step), LARGE);
    deepStrictEqual(await store.ended(uuid(1)), { ...rest, expired: true });
    // Its retention is over, and it is held still.
    deepStrictEqual(await store.endedBefore(Infinity, 9), []);
    deepStrictEqual(idsOf(await store.held(JOB_SCOPE, uuid(1))), [uuid(1)]);
    const { step: __, ...bare } = rest;
    await store.replace({ ...bare, endedAt: 1 }, true);
    deepStrictEqual(await store.read(step), LARGE);
    await store.replace(bare, true);
    deepStrictEqual(await store.read(step), undefined);
    deepStrictEqual(await store.held(JOB_SCOPE), []);
    deepStrictEqual(await store.ended(uuid(1)), bare);
  }),
  opened("lets go of a deletion that is done", async (store) => {
    const deleted = doneOf(jobOf(3), { state: "failed", errorCode: "deleted", blobId: "b" });
    await end(store, deleted);
    await store.replace(deleted, true);
    deepStrictEqual(await store.held(JOB_SCOPE), []);
    deepStrictEqual(await store.ended(uuid(3)), deleted);
  }),
  opened("refuses what comes late from before a retry", async (store) => {
    const record = failedOf(jobOf(1));
    const [lease] = await store.accept([jobOf(1)], []);
    await store.end(lease!, record);
    const again = await store.retry(record, { attempts: 0, recallable: false, due: 0 }, []);
    if (store.isShared) await rejects(store.progress(lease!, PROGRESS), { code: "internal_error" });
    await store.end(again, doneOf(jobOf(1)));
    deepStrictEqual((await store.ended(uuid(1)))?.state, "done");
  }),
  law("tries a failed job again, with its payload and its result", async (place) => {
    const job = jobOf(1);
    const progress = { attempts: 0, recallable: true, due: 5 };
    let payload, step;
    {
      await using store = await place.open();
      [payload, step] = [await store.stage(LARGE), await store.stage(LARGE)];
      const record = failedOf({ ...job, payload }, { step });
      await end(store, record);
      const lease = await store.retry(record, progress, [
        { text: digestOf(1), answer: Uint8Array.of(1), at: Date.now() },
      ]);
      deepStrictEqual(await store.ended(job.id), undefined);
      deepStrictEqual(await store.endedBefore(Infinity, 9), []);
      deepStrictEqual(await store.held(JOB_SCOPE), []);
      deepStrictEqual(await store.answerTo(digestOf(1)), Uint8Array.of(1));
      await rejects(store.retry(record, progress, []), { code: "job_not_retryable" });
      await store.progress(lease, PROGRESS);
    }
    await using store = await place.open();
    const [held] = await claimAll(store);
    deepStrictEqual(held?.job, { ...job, payload });
    deepStrictEqual([held?.progress, held?.step], [PROGRESS, step]);
    deepStrictEqual(await store.read(held!.job.payload), LARGE);
    ok(step !== undefined && (await store.read(step))?.length === LARGE.length);
  }),
];
