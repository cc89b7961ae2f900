import { deepStrictEqual, ok, rejects } from "node:assert/strict";
import type { AcceptedJob, EndedJob, HeldJob, JobStore, Progress } from "../src/interfaces/mod.ts";
import { uuid } from "./index_entry.ts";
import { law, objectId } from "./law.ts";
import type { Case } from "./suite.ts";

/** Settings of {@linkcode JobPlace.open}. */
export interface OpenJobsOptions {
  /** How long what an opening has is its own without being renewed, milliseconds. */
  readonly leaseMs?: number;
}

/** Where jobs are kept, empty at first. */
export interface JobPlace extends AsyncDisposable {
  /** Opens it as another process would; where a store is not shared, after the one before was closed. */
  open(options?: OpenJobsOptions): Promise<JobStore> | JobStore;
}

/** The scope of jobs that name no other. */
export const JOB_SCOPE = { owner: objectId("a"), namespace: "default" };

/** When the jobs were accepted, milliseconds since the epoch. */
export const ACCEPTED_AT = 1_700_000_000_000;

/** A job; what is not given is ordinary. */
export function jobOf(number: number, rest: Partial<AcceptedJob> = {}): AcceptedJob {
  return {
    ...JOB_SCOPE,
    id: uuid(number),
    memoryId: uuid(number),
    version: 1,
    accountId: objectId("c"),
    source: "remember",
    createdAt: ACCEPTED_AT,
    acceptedAt: ACCEPTED_AT + number,
    importance: 0.5,
    bytes: 4,
    payload: { inline: Uint8Array.of(1, 2, 3, number & 255) },
    ...rest,
  };
}

/** The record of a job that failed and may be tried again; what is not given is ordinary. */
export function failedOf(job: AcceptedJob, rest: Partial<EndedJob> = {}): EndedJob {
  return {
    ...job,
    state: "failed",
    attempts: 3,
    endedAt: ACCEPTED_AT + 1000,
    recallable: false,
    errorCode: "storage_failed",
    ...rest,
  };
}

/** The record of a job that is done. */
export function doneOf(job: AcceptedJob, rest: Partial<EndedJob> = {}): EndedJob {
  const { payload: _, ...spec } = job;
  const ended = { attempts: 1, endedAt: ACCEPTED_AT + 1000, recallable: true } as const;
  return { ...spec, state: "done", ...ended, ...rest };
}

/** 32 bytes that stand for a digest. */
export function digestOf(number: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(32);
  new DataView(bytes.buffer).setUint32(0, number);
  return bytes;
}

/** Bytes that are staged. */
export const LARGE: Uint8Array = Uint8Array.from({ length: 200_000 }, (_, i) => i * 31 + (i >> 8));

export const PROGRESS: Progress = {
  attempts: 2,
  recallable: true,
  due: ACCEPTED_AT + 5,
  errorCode: "embedding_failed",
};

const OVER = { name: "SvcError", code: "internal_error" };

/** Everything that can be claimed, in small batches. */
export async function claimAll(store: JobStore): Promise<HeldJob[]> {
  const all: HeldJob[] = [];
  for (let batch = await store.claim(3); batch.length > 0; batch = await store.claim(3)) {
    ok(batch.length <= 3, "more than asked for");
    all.push(...batch);
    ok(all.length <= 1000, "there is no end to it");
  }
  return all;
}

/** Runs on one opening. */
function opened(name: string, body: (store: JobStore) => Promise<void>): Case<JobPlace> {
  return law(name, async (place) => {
    await using store = await place.open();
    await body(store);
  });
}

/** Writes by one opening, then reads by the next. */
function reopened(
  name: string,
  write: (store: JobStore) => Promise<void>,
  read: (store: JobStore) => Promise<void>,
): Case<JobPlace> {
  return law(name, async (place) => {
    {
      await using store = await place.open();
      await write(store);
    }
    await using store = await place.open();
    await read(store);
  });
}

const COMPLETE = jobOf(1, {
  memoryId: uuid(2),
  version: 7,
  publicKey: "d".repeat(64),
  namespace: "a\u0000b 記憶",
  source: "bulk",
  changedAt: 5,
  occurredAt: -1,
  expiresAt: 4_102_444_800_003,
  standing: {
    validFrom: 1,
    validTo: 2,
    trust: "web",
    links: [{ id: uuid(3), kind: "supersedes", by: "caller", score: 1 }],
  },
  proposes: ["conflicts"],
  importance: 0.1,
  payloadKey: "a2V5",
});

/** Accepting, claiming and working. */
export const WORK_CASES: readonly Case<JobPlace>[] = [
  reopened(
    "keeps every member of an accepted job",
    async (store) => void await store.accept([COMPLETE, jobOf(9)], []),
    async (store) => {
      const found = await claimAll(store);
      deepStrictEqual(found.map(({ job }) => job), [COMPLETE, jobOf(9)]);
      for (const held of found) deepStrictEqual(Object.keys(held).sort(), ["job", "lease"]);
    },
  ),
  opened("has what it accepted, so that nobody claims it", async (store) => {
    const leases = await store.accept([jobOf(1), jobOf(2)], []);
    deepStrictEqual(leases.map(({ jobId }) => jobId), [uuid(1), uuid(2)]);
    deepStrictEqual(await store.claim(9), []);
    deepStrictEqual(await store.isUnfinished(uuid(1)), true);
    deepStrictEqual(await store.isUnfinished(uuid(3)), false);
  }),
  reopened(
    "claims the oldest first, each once, and no more than asked for",
    async (store) => {
      for (const number of [7, 3, 8, 1, 4]) await store.accept([jobOf(number)], []);
    },
    async (store) => {
      const found = await claimAll(store);
      deepStrictEqual(found.map(({ job }) => job.id), [1, 3, 4, 7, 8].map(uuid));
      deepStrictEqual(await store.claim(9), []);
    },
  ),
  reopened(
    "keeps how far a job came, and its result",
    async (store) => {
      const [one, two] = await store.accept([jobOf(1), jobOf(2)], []);
      await store.progress(one!, { attempts: 1, recallable: false, due: 0 });
      await store.progress(one!, PROGRESS);
      await store.saveStep(two!, { inline: Uint8Array.of(9) });
      await store.saveStep(two!, { inline: Uint8Array.of(9, 9) });
    },
    async (store) => {
      const [one, two] = await claimAll(store);
      deepStrictEqual([one?.progress, one?.step], [PROGRESS, undefined]);
      deepStrictEqual([two?.progress, two?.step], [undefined, { inline: Uint8Array.of(9, 9) }]);
    },
  ),
  opened("stages bytes, its own copy of them, and inline what is small", async (store) => {
    const mine = LARGE.slice();
    const staged = await store.stage(mine);
    mine.fill(0);
    ok("stage" in staged, "large bytes are inline");
    deepStrictEqual(await store.read(staged), LARGE);
    deepStrictEqual(await store.stage(LARGE.subarray(0, 10)), { inline: LARGE.slice(0, 10) });
    ok("stage" in await store.stage(LARGE.subarray(0, 10), 9), "above the bound");
    deepStrictEqual(await store.read({ stage: uuid(1), chunks: 1 }), undefined);
    deepStrictEqual(await store.read({ inline: Uint8Array.of(1) }), Uint8Array.of(1));
  }),
  reopened(
    "sweeps staged bytes that nothing refers to, and no others",
    async (store) => {
      const payload = await store.stage(LARGE);
      const [lease] = await store.accept([jobOf(1, { payload })], []);
      await store.saveStep(lease!, await store.stage(LARGE));
      await store.stage(LARGE);
      deepStrictEqual(await store.sweep(0, 0), 0);
      deepStrictEqual(await store.sweep(Number.MAX_SAFE_INTEGER, 0), 1);
    },
    async (store) => {
      const [held] = await claimAll(store);
      deepStrictEqual(await store.read(held!.job.payload), LARGE);
      deepStrictEqual(await store.read(held!.step!), LARGE);
    },
  ),
  opened("drops a result that another takes the place of", async (store) => {
    const [lease] = await store.accept([jobOf(1)], []);
    const [first, second] = [await store.stage(LARGE), await store.stage(LARGE)];
    await store.saveStep(lease!, first);
    await store.saveStep(lease!, second);
    deepStrictEqual(await store.read(first), undefined);
    deepStrictEqual(await store.read(second), LARGE);
  }),
  reopened(
    "ends a job, whose bytes go",
    async (store) => {
      const payload = await store.stage(LARGE);
      const step = await store.stage(LARGE);
      const [lease] = await store.accept([jobOf(1, { payload })], []);
      await store.saveStep(lease!, step);
      await store.end(lease!, doneOf(jobOf(1), { blobId: "blob" }));
      deepStrictEqual(await store.read(payload), undefined);
      deepStrictEqual(await store.read(step), undefined);
    },
    async (store) => {
      deepStrictEqual(await store.claim(9), []);
      deepStrictEqual(await store.isUnfinished(uuid(1)), false);
      deepStrictEqual(await store.ended(uuid(1)), doneOf(jobOf(1), { blobId: "blob" }));
      deepStrictEqual(await store.ended(uuid(2)), undefined);
    },
  ),
  opened("writes nothing for a job that has ended", async (store) => {
    const [lease] = await store.accept([jobOf(1)], []);
    await store.end(lease!, doneOf(jobOf(1)));
    await rejects(store.progress(lease!, PROGRESS), OVER);
    await rejects(store.saveStep(lease!, { inline: Uint8Array.of(1) }), OVER);
    await rejects(store.end(lease!, failedOf(jobOf(1))), OVER);
    deepStrictEqual((await store.ended(uuid(1)))?.state, "done");
  }),
  reopened(
    "answers what was kept with accepted work",
    async (store) => {
      const at = Date.now();
      const until = at + 3_600_000;
      await store.accept([jobOf(1)], [
        { nonce: digestOf(1), at },
        { text: digestOf(2), answer: Uint8Array.of(2), at },
        { idempotency: digestOf(3), body: digestOf(4), answer: Uint8Array.of(3), at, until },
      ]);
    },
    async (store) => {
      deepStrictEqual(await store.answerTo(digestOf(2)), Uint8Array.of(2));
      deepStrictEqual(await store.answerTo(digestOf(3)), undefined);
      const found = await store.idempotent(digestOf(3));
      deepStrictEqual([found?.body, found?.answer], [digestOf(4), Uint8Array.of(3)]);
      deepStrictEqual(await store.idempotent(digestOf(2)), undefined);
    },
  ),
  opened("tells of every note, so that another store can keep it", async (store) => {
    const at = Date.now();
    const until = at + 3_600_000;
    const key = { idempotency: digestOf(3), body: digestOf(4), answer: Uint8Array.of(3), until };
    await store.accept([], [
      { nonce: digestOf(1), at },
      { text: digestOf(2), answer: Uint8Array.of(2), at },
      { ...key, at },
    ]);
    if (store.notes === undefined) return;
    const notes = await Array.fromAsync(store.notes());
    deepStrictEqual(notes.length, 3);
    const nonce = notes.find((note) => "nonce" in note)!;
    deepStrictEqual(nonce.nonce, digestOf(1));
    const text = notes.find((note) => "text" in note)!;
    deepStrictEqual([text.text, text.answer], [digestOf(2), Uint8Array.of(2)]);
    for (const note of [nonce, text]) {
      ok(note.at <= at && note.at > at - 600_001, "a time is another one");
    }
    const { at: _, ...kept } = notes.find((note) => "idempotency" in note)!;
    deepStrictEqual(kept, key);
  }),
];
