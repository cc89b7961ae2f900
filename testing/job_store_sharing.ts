import { deepStrictEqual, ok, rejects } from "node:assert/strict";
import { pause } from "../src/deadline.ts";
import type { JobStore, Note } from "../src/interfaces/mod.ts";
import { uuid } from "./index_entry.ts";
import {
  claimAll,
  digestOf,
  doneOf,
  failedOf,
  jobOf,
  type JobPlace,
  PROGRESS,
} from "./job_store.ts";
import type { Case } from "./suite.ts";

const OVER = { name: "SvcError", code: "internal_error" };

/** A case for stores that several relayers may open at once. */
function shared(
  name: string,
  body: (one: JobStore, place: JobPlace) => Promise<void>,
): Case<JobPlace> {
  return {
    name,
    async run(make) {
      await using place = await make();
      await using one = await place.open();
      if (!one.isShared) return "the store is not shared";
      await body(one, place);
      return undefined;
    },
  };
}

const notesOf = (number: number, until = Date.now() + 60_000): Note[] => [
  { text: digestOf(number), answer: Uint8Array.of(1), at: Date.now() },
  {
    idempotency: digestOf(number),
    body: digestOf(0),
    answer: Uint8Array.of(1),
    at: Date.now(),
    until,
  },
];

/** What several openings promise each other. */
export const SHARING_CASES: readonly Case<JobPlace>[] = [
  shared("hands jobs of a closed opening to one of the others, each once", async (one, place) => {
    const jobs = Array.from({ length: 200 }, (_, number) => jobOf(number));
    await one.accept(jobs, []);
    await using two = await place.open();
    await using three = await place.open();
    deepStrictEqual(await two.claim(9), []);
    await one[Symbol.asyncDispose]();
    const taken = (await Promise.all([two, three, two, three].map(claimAll))).flat();
    deepStrictEqual(taken.map(({ job }) => job.id).sort(), jobs.map(({ id }) => id));
  }),
  shared("refuses whatever comes late from an earlier opening", async (one, place) => {
    await using slow = await place.open({ leaseMs: 1 });
    const [lease, other] = await slow.accept([jobOf(1), jobOf(2)], []);
    const until = performance.now() + 5_000;
    const taken = await claimAll(one);
    while (taken.length < 2 && performance.now() < until) {
      await pause(20);
      taken.push(...await claimAll(one));
    }
    deepStrictEqual(taken.map(({ job }) => job.id), [uuid(1), uuid(2)]);
    ok(taken[0]!.lease.turn > lease!.turn, "the turn did not rise");
    deepStrictEqual(await slow.renew(), false);
    await rejects(slow.progress(lease!, PROGRESS), OVER);
    await rejects(slow.saveStep(lease!, { inline: Uint8Array.of(1) }), OVER);
    await rejects(slow.end(lease!, failedOf(jobOf(1))), OVER);
    await one.end(taken[0]!.lease, doneOf(jobOf(1)));
    await rejects(slow.end(lease!, failedOf(jobOf(1))), OVER);
    deepStrictEqual((await slow.ended(uuid(1)))?.state, "done");
    // Taken back, it has another turn: what is left of the first one is refused all the same.
    await one[Symbol.asyncDispose]();
    const [back] = await claimAll(slow);
    deepStrictEqual(back?.job.id, uuid(2));
    await rejects(slow.progress(other!, PROGRESS), OVER);
    await slow.progress(back!.lease, PROGRESS);
  }),
  shared("keeps what an opening has as long as it is renewed", async (one, place) => {
    const leaseMs = 500;
    await using kept = await place.open({ leaseMs });
    const [lease] = await kept.accept([jobOf(1)], []);
    let since = performance.now();
    for (let round = 0; round < 4; round++) {
      await pause(leaseMs / 3);
      const [hadIt, now] = [await kept.renew(), performance.now()];
      // A machine that stood still for as long says nothing about the store.
      if (now - since > leaseMs) return;
      deepStrictEqual(hadIt, true);
      deepStrictEqual(await one.claim(9), []);
      since = now;
    }
    await kept.end(lease!, doneOf(jobOf(1)));
  }),
  shared("takes a nonce once, whoever brings it", async (one, place) => {
    await using two = await place.open();
    const accept = (store: JobStore, number: number) =>
      store.accept([jobOf(number)], [{ nonce: digestOf(1), at: Date.now() }]);
    const results = await Promise.allSettled(
      [one, two, one, two].map((store, number) => accept(store, number)),
    );
    const refused = results.filter((result) => result.status === "rejected");
    deepStrictEqual(refused.map(({ reason }) => reason.code), Array(3).fill("nonce_reused"));
    const unfinished = await Promise.all([0, 1, 2, 3].map((n) => one.isUnfinished(uuid(n))));
    deepStrictEqual(unfinished.filter(Boolean).length, 1, "nothing of what was refused is there");
    await rejects(accept(two, 9), { code: "nonce_reused" });
  }),
  shared(
    "takes a nonce of a read once, whoever brings it, and whatever it comes for",
    async (one, place) => {
      await using two = await place.open();
      const note = { nonce: digestOf(1), at: Date.now(), ofRead: true } as const;
      const results = await Promise.allSettled([one, two].map((store) => store.accept([], [note])));
      deepStrictEqual(results.filter(({ status }) => status === "rejected").length, 1);
      await rejects(one.accept([jobOf(1)], [note]), { code: "nonce_reused" });
      const { ofRead: _, ...written } = note;
      await rejects(two.accept([], [written]), { code: "nonce_reused" });
      await one.accept([jobOf(1)], [{ ...note, nonce: digestOf(2) }]);
      deepStrictEqual(await two.isUnfinished(uuid(1)), true);
    },
  ),
  shared("keeps one answer to a text and to a key, the first", async (one, place) => {
    await using two = await place.open();
    for (const [number, note] of notesOf(1).entries()) {
      await one.accept([jobOf(number)], [note]);
      const again = { ...note, answer: Uint8Array.of(2) };
      const refusal = { code: "idempotency_in_progress" };
      await rejects(two.accept([jobOf(10 + number)], [again]), refusal);
      deepStrictEqual(await two.isUnfinished(uuid(10 + number)), false);
    }
    deepStrictEqual(await two.answerTo(digestOf(1)), Uint8Array.of(1));
    deepStrictEqual((await two.idempotent(digestOf(1)))?.answer, Uint8Array.of(1));
  }),
  shared("replaces the answer that a later one names, and no other", async (one, place) => {
    await using two = await place.open();
    const notes = notesOf(1);
    await one.accept([jobOf(1)], notes);
    const final = notes.map((note) =>
      "nonce" in note ? note : { ...note, answer: Uint8Array.of(2), replaces: note.answer }
    );
    const late = final.map((note) => ({ ...note, answer: Uint8Array.of(3) }));
    await one.accept([], final);
    for (const note of late) {
      await rejects(two.accept([], [note]), { code: "idempotency_in_progress" });
    }
    deepStrictEqual(await two.answerTo(digestOf(1)), Uint8Array.of(2));
    deepStrictEqual((await two.idempotent(digestOf(1)))?.answer, Uint8Array.of(2));
  }),
  shared("takes a key again when its time is over", async (one) => {
    const [, past] = notesOf(1, Date.now() - 1000);
    const [, now] = notesOf(1);
    await one.accept([], [past!]);
    await one.accept([], [{ ...now!, answer: Uint8Array.of(2) } as Note]);
    deepStrictEqual((await one.idempotent(digestOf(1)))?.answer, Uint8Array.of(2));
  }),
  shared("sweeps notes of before, and no others", async (one) => {
    const [text, key] = notesOf(1, Date.now() + 60_000);
    await one.accept([], [{ nonce: digestOf(1), at: Date.now() }, text!, key!]);
    await one.sweep(0, Date.now() - 3_600_000);
    const nonce = { nonce: digestOf(1), at: Date.now() };
    await rejects(one.accept([], [nonce]), { code: "nonce_reused" });
    deepStrictEqual(await one.answerTo(digestOf(1)), Uint8Array.of(1));
    await one.sweep(0, Date.now() + 3_600_000);
    await one.accept([], [nonce]);
    deepStrictEqual(await one.answerTo(digestOf(1)), undefined);
    deepStrictEqual(await one.idempotent(digestOf(1)), undefined);
  }),
];
