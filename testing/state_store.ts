import { deepStrictEqual, ok, rejects } from "node:assert/strict";
import { pause } from "../src/deadline.ts";
import type { ActivityRow, Expiry, LedgerRow, StateStore } from "../src/interfaces/mod.ts";
import { uuid } from "./index_entry.ts";
import { digestOf, doneOf, JOB_SCOPE, jobOf } from "./job_store.ts";
import type { OpenJobsOptions } from "./job_store_suite.ts";
import { law } from "./law.ts";
import { WINDOW_CASES } from "./state_store_windows.ts";
import type { Case, Suite } from "./suite.ts";

/** Where state is kept, empty at first. */
export interface StatePlace extends AsyncDisposable {
  /** Opens it as another relayer would. */
  open(options?: OpenJobsOptions): Promise<StateStore> | StateStore;
}

const { owner: OWNER } = JOB_SCOPE;

const rowOf = (number: number, value: number): LedgerRow => ({
  key: digestOf(number),
  value: Uint8Array.of(value),
});

const namesOf = (rows: readonly LedgerRow[]) =>
  rows.map(({ key, value }) => `${new Uint8Array(key).toHex()} ${new Uint8Array(value).toHex()}`)
    .sort();

/** A case with two relayers. */
function two(
  name: string,
  body: (one: StateStore, other: StateStore, place: StatePlace) => Promise<void>,
): Case<StatePlace> {
  return law(name, async (place: StatePlace) => {
    await using one = await place.open();
    await using other = await place.open();
    await body(one, other, place);
  });
}

const LEDGER_CASES: readonly Case<StatePlace>[] = [
  two("keeps a part as it was written last, for whoever reads it", async (one, other) => {
    ok(await one.owners.take(OWNER, true));
    const { revision } = await one.ledger.read(OWNER);
    const next = await one.ledger.write(OWNER, revision, {
      put: [rowOf(1, 1), rowOf(2, 1), rowOf(3, 1)],
      gone: [],
    });
    ok(next !== undefined && next > revision);
    ok(
      await one.ledger.write(OWNER, next, {
        put: [rowOf(2, 2)],
        gone: [digestOf(1), digestOf(9)],
      }) !== undefined,
    );
    const read = await other.ledger.read(OWNER);
    deepStrictEqual(namesOf(read.rows), namesOf([rowOf(2, 2), rowOf(3, 1)]));
    deepStrictEqual(await other.ledger.revision(OWNER), read.revision);
    deepStrictEqual((await other.ledger.read(`${OWNER}0`)).rows, []);
  }),
  two("writes nothing of what stands on an older writing", async (one) => {
    await one.owners.take(OWNER, true);
    const { revision } = await one.ledger.read(OWNER);
    await one.ledger.write(OWNER, revision, { put: [rowOf(1, 1)], gone: [] });
    const late = { put: [rowOf(1, 2), rowOf(2, 2)], gone: [] };
    deepStrictEqual(await one.ledger.write(OWNER, revision, late), undefined);
    deepStrictEqual(namesOf((await one.ledger.read(OWNER)).rows), namesOf([rowOf(1, 1)]));
  }),
  two("lets the common part be written by everybody who knows it", async (one, other) => {
    const { revision } = await one.ledger.read("");
    const next = await one.ledger.write("", revision, { put: [rowOf(1, 1)], gone: [] });
    ok(next !== undefined);
    const change = { put: [rowOf(2, 1)], gone: [] };
    deepStrictEqual(await other.ledger.write("", revision, change), undefined);
    ok(await other.ledger.write("", next, change) !== undefined);
    deepStrictEqual(namesOf((await one.ledger.read("")).rows), namesOf([rowOf(1, 1), rowOf(2, 1)]));
  }),
];

const OWNER_CASES: readonly Case<StatePlace>[] = [
  two(
    "has an owner at one opening at a time, which learns that it is wanted",
    async (one, other) => {
      ok(await one.owners.take(OWNER, true));
      ok(await one.owners.take(OWNER, true));
      deepStrictEqual(await other.owners.take(OWNER, false), false);
      deepStrictEqual((await one.owners.renew()).wanted, []);
      deepStrictEqual(await other.owners.take(OWNER, true), false);
      deepStrictEqual((await one.owners.renew()).wanted, [OWNER]);
      await other.owners.release(OWNER);
      deepStrictEqual(await other.owners.take(OWNER, true), false);
      await one.owners.release(OWNER);
      ok(await other.owners.take(OWNER, true));
      deepStrictEqual((await other.owners.renew()).wanted, []);
      deepStrictEqual([await one.owners.mine(), await other.owners.mine()], [[], [OWNER]]);
    },
  ),
  law("takes what has run out, and nothing late of whoever had it", async (place: StatePlace) => {
    await using slow = await place.open({ leaseMs: 1 });
    await using other = await place.open();
    await slow.owners.take(OWNER, true);
    const { revision } = await slow.ledger.read(OWNER);
    const [lease] = await slow.jobs.accept([jobOf(1)], []);
    await pause(20);
    ok(await other.owners.take(OWNER, false));
    const change = { put: [rowOf(1, 1)], gone: [] };
    deepStrictEqual(await slow.ledger.write(OWNER, revision, change), undefined);
    const later = await slow.ledger.revision(OWNER);
    deepStrictEqual(await slow.ledger.write(OWNER, later, change), undefined);
    await rejects(slow.jobs.accept([jobOf(2)], []), { code: "overloaded" });
    const [held] = await other.jobs.claim(10, OWNER);
    deepStrictEqual(held?.job.id, jobOf(1).id);
    await rejects(slow.jobs.end(lease!, doneOf(jobOf(1))), { code: "internal_error" });
    deepStrictEqual([await slow.owners.renew(), await slow.owners.mine()], [
      { wanted: [], hadRunOut: true },
      [],
    ]);
  }),
  two("counts the openings beside one that live", async (one, other, place) => {
    if (one.owners.others === undefined) return;
    deepStrictEqual([await one.owners.others(), await other.owners.others!()], [1, 1]);
    const third = await place.open();
    deepStrictEqual(await one.owners.others(), 2);
    await third[Symbol.asyncDispose]();
    deepStrictEqual(await one.owners.others(), 1);
  }),
  two("accepts jobs of the opening's own owners, all of a request or none", async (one, other) => {
    const stranger = { owner: `0x${"b".repeat(64)}`, namespace: "default" };
    await one.owners.take(OWNER, true);
    await other.owners.take(stranger.owner, true);
    await rejects(one.jobs.accept([jobOf(1), jobOf(2, stranger)], []), { code: "overloaded" });
    deepStrictEqual(await one.jobs.isUnfinished(jobOf(1).id), false);
    await one.jobs.accept([jobOf(1)], []);
    await other.jobs.accept([jobOf(2, stranger)], []);
    await one.owners.release(OWNER);
    await rejects(one.jobs.accept([jobOf(3)], []), { code: "overloaded" });
  }),
  two("hands over the jobs of one owner, and tells of those nobody has", async (one, other) => {
    const second = { owner: `0x${"b".repeat(64)}`, namespace: "default" };
    await one.owners.take(OWNER, true);
    await one.owners.take(second.owner, true);
    await one.jobs.accept([jobOf(1), jobOf(3)], []);
    await one.jobs.accept([jobOf(2, second)], []);
    deepStrictEqual(await other.owners.orphaned(10), []);
    await one.owners.release(OWNER);
    deepStrictEqual(await other.owners.orphaned(10), [OWNER]);
    ok(await other.owners.take(OWNER, false));
    const ids = (await other.jobs.claim(10, OWNER)).map(({ job }) => job.id);
    deepStrictEqual(ids, [jobOf(1).id, jobOf(3).id]);
    deepStrictEqual(await other.jobs.claim(10, OWNER), []);
    await one[Symbol.asyncDispose]();
    deepStrictEqual(await other.owners.orphaned(10), [second.owner]);
    ok(await other.owners.take(second.owner, false));
    deepStrictEqual((await other.jobs.claim(10, second.owner)).length, 1);
  }),
];

const WATCH_CASES: readonly Case<StatePlace>[] = [
  two("tells at once who is wanted and free, where it hears of that", async (one, other) => {
    const heard: string[] = [];
    const watch = (name: string, { owners }: StateStore) =>
      owners.watch?.({
        wanted: (owner) => heard.push(`${name}: ${owner} is wanted`),
        free: (owner) => heard.push(`${name}: ${owner} is free`),
      });
    using watching = watch("one", one);
    using _also = watch("other", other);
    if (watching === undefined) return;
    await one.owners.take(OWNER, true);
    await other.owners.take(OWNER, false);
    await other.owners.take(OWNER, true);
    await one.owners.release(OWNER);
    for (let waited = 0; heard.length < 3 && waited < 1_000; waited += 5) await pause(5);
    deepStrictEqual(heard.sort(), [
      `one: ${OWNER} is free`,
      `one: ${OWNER} is wanted`,
      `other: ${OWNER} is free`,
    ]);
  }),
];

const AGAIN_CASES: readonly Case<StatePlace>[] = [
  two("gives an opening its own jobs again once it takes the owner again", async (one) => {
    await one.owners.take(OWNER, true);
    const [lease] = await one.jobs.accept([jobOf(1)], []);
    await one.owners.release(OWNER);
    ok(await one.owners.take(OWNER, false));
    const [held] = await one.jobs.claim(10, OWNER);
    deepStrictEqual(held?.job.id, jobOf(1).id);
    deepStrictEqual(await one.jobs.claim(10, OWNER), []);
    await rejects(one.jobs.end(lease!, doneOf(jobOf(1))), { code: "internal_error" });
    await one.jobs.end(held!.lease, doneOf(jobOf(1)));
  }),
];

const EXPIRY_CASES: readonly Case<StatePlace>[] = [
  two("tells what is over, earliest first, until it is struck out", async (one, other) => {
    const ending = (number: number, expiresAt: number): Expiry => ({
      ...JOB_SCOPE,
      id: uuid(number),
      expiresAt,
    });
    await one.expiries.note([ending(3, 30), ending(1, 20), { ...JOB_SCOPE, id: uuid(9) }]);
    await other.expiries.note([ending(2, 20), ending(1, 20), ending(4, 99)]);
    const due = await other.expiries.due(30);
    deepStrictEqual(due, [ending(1, 20), ending(2, 20), ending(3, 30)]);
    deepStrictEqual(await one.expiries.due(30, due[1]), [ending(3, 30)]);
    await one.expiries.remove([ending(1, 20), ending(3, 31)]);
    deepStrictEqual(await other.expiries.due(98), [ending(2, 20), ending(3, 30)]);
  }),
];

const done = (holder: string, day: number, value: number, id = 0): ActivityRow => ({
  id,
  account: `account of ${holder.slice(0, 1)}`,
  holder,
  day,
  entry: Uint8Array.of(value),
});

const entriesOf = (rows: readonly ActivityRow[]) =>
  rows.map(({ holder, entry }) => `${holder} ${entry[0]}`);

const ACTIVITY_CASES: readonly Case<StatePlace>[] = [
  two("tells what was done, wherever that was, newest first", async ({ activity }, other) => {
    const [first, second] = await activity.write([done("a1", 7, 1), done("a2", 7, 2)], 9);
    ok(first! > 0 && second! > first!);
    await other.activity.write([done("a1", 8, 3), done("b1", 8, 4)], 9);
    await activity.write([done("a1", 7, 5, first!)], 9);
    const account = "account of a";
    const page = await other.activity.page({ account, limit: 2 });
    deepStrictEqual(entriesOf(page), ["a1 3", "a2 2"]);
    const before = page.at(-1)!.id;
    const rest = await activity.page({ account, before, limit: 2 });
    deepStrictEqual(entriesOf(rest), ["a1 5"]);
    deepStrictEqual(rest[0], done("a1", 7, 5, first!));
    const own = await activity.page({ account, holder: "a1", limit: 9 });
    deepStrictEqual(entriesOf(own), ["a1 3", "a1 5"]);
    deepStrictEqual([await other.activity.countOn("a1", 7), await activity.countOn("a2", 8)], [
      1,
      0,
    ]);
  }),
  two("lets a key push out what it did, and nobody else", async ({ activity }, other) => {
    await activity.write([done("a1", 7, 1), done("a2", 7, 2)], 2);
    await other.activity.write([done("a2", 7, 3), done("a2", 7, 4)], 2);
    const page = () => activity.page({ account: "account of a", limit: 9 });
    deepStrictEqual(entriesOf(await page()), ["a2 4", "a2 3", "a1 1"]);
    await other.activity.write([done("b1", 9, 5)], 2);
    await activity.prune(7, { perHolder: 2, total: 3 });
    deepStrictEqual(entriesOf(await page()), ["a2 4", "a1 1"]);
    await activity.prune(8, { perHolder: 2, total: 9 });
    deepStrictEqual(await page(), []);
    deepStrictEqual(await activity.countOn("b1", 9), 1);
  }),
];

/** Records of so many bytes. */
const records = (...lengths: readonly number[]): Uint8Array[] =>
  lengths.map((length) => new Uint8Array(length).fill(length));

const LARGE = 300_000;

async function lengthsOf({ words }: StateStore, namespace = JOB_SCOPE.namespace) {
  const found = await words.read({ ...JOB_SCOPE, namespace });
  ok(found.every((record) => record.every((byte) => byte === (record.length & 255))));
  return found.map(({ length }) => length);
}

const WORDS_CASES: readonly Case<StatePlace>[] = [
  two("keeps the records that were written last, for whoever reads", async (one, other) => {
    deepStrictEqual([await lengthsOf(one), await one.words.turn(JOB_SCOPE)], [[], 0]);
    await one.owners.take(OWNER, true);
    await one.words.write(JOB_SCOPE, 0, records(3, LARGE, 2, LARGE + 1));
    deepStrictEqual(await lengthsOf(other), [3, LARGE, 2, LARGE + 1]);
    const turn = await other.words.turn(JOB_SCOPE);
    ok(turn > 0);
    await one.words.write(JOB_SCOPE, turn, records(5));
    deepStrictEqual(await lengthsOf(other), [5]);
    deepStrictEqual(await lengthsOf(other, `${JOB_SCOPE.namespace}0`), []);
    await one.words.drop(JOB_SCOPE);
    deepStrictEqual(await lengthsOf(other), []);
  }),
  two("writes no records of before a removal, or another writing", async (one, other) => {
    await one.owners.take(OWNER, true);
    await one.words.drop(JOB_SCOPE);
    const stale = { code: "overloaded" };
    await rejects(one.words.write(JOB_SCOPE, 0, records(5)), stale);
    const turn = await one.words.turn(JOB_SCOPE);
    await one.words.write(JOB_SCOPE, turn, records(6));
    await rejects(one.words.write(JOB_SCOPE, turn, records(7)), stale);
    deepStrictEqual(await lengthsOf(one), [6]);
    // The owner is somebody else's meanwhile, who removes something.
    const before = await one.words.turn(JOB_SCOPE);
    await one.owners.release(OWNER);
    await other.owners.take(OWNER, true);
    await other.words.drop(JOB_SCOPE);
    await other.owners.release(OWNER);
    await one.owners.take(OWNER, true);
    await rejects(one.words.write(JOB_SCOPE, before, records(8)), stale);
    deepStrictEqual(await lengthsOf(one), []);
  }),
  two("takes no records of an owner that is another opening's", async (one, other) => {
    await one.owners.take(OWNER, true);
    await rejects(other.words.write(JOB_SCOPE, 0, records(5)), { code: "overloaded" });
    deepStrictEqual([await lengthsOf(one), await one.words.turn(JOB_SCOPE)], [[], 0]);
  }),
];

/** What every {@linkcode StateStore} promises beside what {@linkcode jobStoreSuite} asks of its jobs. */
export const stateStoreSuite: Suite<StatePlace> = {
  name: "StateStore",
  cases: [
    ...LEDGER_CASES,
    ...OWNER_CASES,
    ...WATCH_CASES,
    ...AGAIN_CASES,
    ...EXPIRY_CASES,
    ...ACTIVITY_CASES,
    ...WINDOW_CASES,
    ...WORDS_CASES,
  ],
};
