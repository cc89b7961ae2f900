import assert from "node:assert/strict";
import { memoryState } from "../../../plugins/memory/state_store.ts";
import { SvcError } from "../../../src/errors.ts";
import type { OwnerLeases } from "../../../src/interfaces/mod.ts";
import { LeasedOwners, type OwnerState } from "../../../src/memory/owners/leased_owners.ts";
import { poll } from "../../within.ts";

const OWNER = `0x${"a".repeat(64)}`;

/** What an owner's state was asked, and what it answers. */
class Watched implements OwnerState {
  readonly calls: string[] = [];
  flushing: () => Promise<void> = () => Promise.resolve();
  entering: () => Promise<void> = () => Promise.resolve();

  async enter(): Promise<void> {
    this.calls.push("enter");
    await this.entering();
  }
  entered(): void {}
  settle(): Promise<void> {
    return Promise.resolve();
  }
  flush(): Promise<void> {
    return this.flushing();
  }
  forget(): void {
    this.calls.push("forget");
  }
}

/** Owners over leases that a test may break. */
async function ownersOver(leases: OwnerLeases, state = new Watched(), idleMs?: number) {
  const warned: string[] = [];
  const owners = new LeasedOwners(leases, state, (event) => warned.push(event), idleMs);
  await owners.start();
  return { owners, state, warned };
}

Deno.test("a release that is slow ends no later lease", async () => {
  await using place = memoryState();
  await using one = place.open();
  await using other = place.open();
  const released = Promise.withResolvers<void>();
  const isReleasing = Promise.withResolvers<void>();
  const slow: OwnerLeases = {
    ...one.owners,
    async release(owner) {
      isReleasing.resolve();
      await released.promise;
      await one.owners.release(owner);
    },
  };
  const { owners } = await ownersOver(slow);
  await using _owners = owners;
  (await owners.hold(OWNER))[Symbol.dispose]();
  assert.equal(await other.owners.take(OWNER, true), false);
  await isReleasing.promise;
  const again = owners.hold(OWNER);
  released.resolve();
  using hold = await again;
  assert.deepEqual(await one.owners.mine(), [OWNER]);
  await hold.settled();
});

Deno.test("what ran out is looked at until it is known", async () => {
  await using place = memoryState();
  await using one = place.open({ leaseMs: 60 });
  await using other = place.open();
  let fails = 0;
  let isAway = false;
  const leases: OwnerLeases = {
    ...one.owners,
    renew: () => isAway ? Promise.reject(new SvcError("storage_unavailable")) : one.owners.renew(),
    mine: () =>
      fails-- > 0 ? Promise.reject(new SvcError("storage_unavailable")) : one.owners.mine(),
  };
  const { owners, state } = await ownersOver(leases);
  await using _owners = owners;
  using hold = await owners.hold(OWNER);
  isAway = true;
  await poll(() => other.owners.take(OWNER, false), (taken) => taken);
  fails = 2;
  isAway = false;
  await poll(() => state.calls.includes("forget"), (forgotten) => forgotten);
  await assert.rejects(hold.settled(), { code: "overloaded" });
  assert.equal(owners.holdOwn(OWNER), undefined);
});

Deno.test("an owner that was lost while it came is not here", async () => {
  await using place = memoryState();
  await using one = place.open({ leaseMs: 60 });
  await using other = place.open();
  let isAway = false;
  const leases: OwnerLeases = {
    ...one.owners,
    renew: () => isAway ? Promise.reject(new SvcError("storage_unavailable")) : one.owners.renew(),
  };
  const { owners, state } = await ownersOver(leases);
  await using _owners = owners;
  const entered = Promise.withResolvers<void>();
  state.entering = () => entered.promise;
  const coming = owners.holdFree(OWNER);
  await poll(() => state.calls.length, (count) => count > 0);
  isAway = true;
  await poll(() => other.owners.take(OWNER, false), (taken) => taken);
  isAway = false;
  await poll(() => state.calls.includes("forget"), (forgotten) => forgotten);
  entered.resolve();
  assert.equal(await coming, undefined);
  assert.equal(owners.holdOwn(OWNER), undefined);
});

Deno.test("nothing of a lost taking passes for the next one", async () => {
  await using place = memoryState();
  await using one = place.open();
  const { owners, state } = await ownersOver(one.owners);
  await using _owners = owners;
  const first = await owners.hold(OWNER);
  const job = owners.holdForJob(OWNER)!;
  state.flushing = () => Promise.reject(new SvcError("storage_unavailable"));
  await assert.rejects(first.settled(), { code: "storage_unavailable" });
  state.flushing = () => Promise.resolve();
  const second = owners.hold(OWNER);
  await assert.rejects(first.settled(), { code: "overloaded" });
  await assert.rejects(owners.settled(OWNER), { code: "overloaded" });
  first[Symbol.dispose]();
  assert.equal(await Promise.race([second, Promise.resolve("not yet")]), "not yet");
  job[Symbol.dispose]();
  using hold = await second;
  await hold.settled();
  assert.deepEqual(state.calls, ["enter", "forget", "enter"]);
});

Deno.test("what was asked for in vain ends no later lease", async () => {
  await using place = memoryState();
  await using one = place.open();
  await using other = place.open();
  const [taking, looking, isLooking] = [1, 2, 3].map(() => Promise.withResolvers<void>());
  let isFirst = true;
  let hadRunOut = false;
  const leases: OwnerLeases = {
    ...one.owners,
    async take(owner, ask) {
      if (isFirst) {
        isFirst = false;
        await taking!.promise;
      }
      return await one.owners.take(owner, ask);
    },
    async renew() {
      const news = await one.owners.renew();
      return { ...news, hadRunOut: news.hadRunOut || hadRunOut };
    },
    async mine() {
      const mine = await one.owners.mine();
      if (!hadRunOut) return mine;
      isLooking!.resolve();
      await looking!.promise;
      hadRunOut = false;
      return mine;
    },
  };
  const { owners } = await ownersOver(leases);
  await using _owners = owners;
  assert.equal(await other.owners.take(OWNER, false), true);
  const inVain = owners.holdFree(OWNER);
  hadRunOut = true;
  await isLooking!.promise;
  taking!.resolve();
  assert.equal(await inVain, undefined);
  await other.owners.release(OWNER);
  using hold = await owners.hold(OWNER);
  looking!.resolve();
  await poll(() => hadRunOut, (isOpen) => !isOpen);
  await hold.settled();
  assert.deepEqual(await one.owners.mine(), [OWNER]);
});

/** Two relayers, whose leases a test may change. */
async function handedOver(change: (leases: OwnerLeases) => OwnerLeases): Promise<void> {
  await using place = memoryState();
  await using one = place.open();
  await using other = place.open();
  const { owners: first } = await ownersOver(change(one.owners));
  await using _first = first;
  const { owners: second } = await ownersOver(change(other.owners));
  await using _second = second;
  (await first.hold(OWNER))[Symbol.dispose]();
  using _hold = await second.hold(OWNER);
  assert.deepEqual([await one.owners.mine(), await other.owners.mine()], [[], [OWNER]]);
}

Deno.test("an owner goes as soon as it is heard that it is wanted", async () => {
  // Looking would never tell.
  await handedOver((leases) => ({
    ...leases,
    renew: async () => ({ ...await leases.renew(), wanted: [] }),
  }));
});

Deno.test("an owner goes where nothing is ever heard", async () => {
  await handedOver(({ watch: _, ...leases }) => leases);
  await handedOver((leases) => ({ ...leases, watch: () => ({ [Symbol.dispose]() {} }) }));
});

Deno.test("an owner of whom nobody asks anything is let go, and comes again when somebody does", async () => {
  await using place = memoryState();
  await using one = place.open();
  let renewals = 0;
  const counted: OwnerLeases = {
    ...one.owners,
    renew: () => {
      renewals++;
      return one.owners.renew();
    },
  };
  const { owners, state } = await ownersOver(counted, undefined, 1);
  await using _owners = owners;
  {
    using _hold = await owners.hold(OWNER);
    using job = owners.holdForJob(OWNER);
    assert.ok(job);
    // A look finds that something is under way.
    const looks = renewals;
    await poll(() => renewals, (count) => count > looks + 1);
    assert.deepEqual(state.calls, ["enter"]);
  }
  await poll(() => one.owners.mine(), (mine) => mine.length === 0);
  assert.deepEqual(state.calls, ["enter", "forget"]);
  using _again = await owners.hold(OWNER);
  assert.deepEqual(await one.owners.mine(), [OWNER]);
});

Deno.test("an owner of whom a commit may be unknown is read anew", async () => {
  await using place = memoryState();
  await using one = place.open();
  const { owners, state } = await ownersOver(one.owners);
  await using _owners = owners;
  const hold = await owners.hold(OWNER);
  owners.doubt(OWNER);
  owners.doubt(OWNER);
  await assert.rejects(hold.settled(), { code: "overloaded" });
  const again = owners.hold(OWNER);
  assert.deepEqual(state.calls, ["enter", "forget"]);
  // What stands on the doubtful state has to end first.
  hold[Symbol.dispose]();
  using fresh = await again;
  assert.deepEqual(state.calls, ["enter", "forget", "enter"]);
  await fresh.settled();
  owners.doubt(`0x${"b".repeat(64)}`);
});

Deno.test("jobs that only this relayer can end are worked off before an owner goes", async () => {
  await using place = memoryState();
  await using one = place.open();
  await using other = place.open();
  const working = Promise.withResolvers<void>();
  const asked: [owner: string, holds: boolean][] = [];
  const state = Object.assign(new Watched(), {
    async workOff(owner: string) {
      using job = owners.holdForJob(owner);
      asked.push([owner, job !== undefined]);
      await working.promise;
    },
  });
  const { owners } = await ownersOver(one.owners, state);
  await using _owners = owners;
  (await owners.hold(OWNER))[Symbol.dispose]();
  assert.equal(await other.owners.take(OWNER, true), false);
  await poll(() => asked.length, (count) => count > 0);
  assert.deepEqual(asked, [[OWNER, true]]);
  assert.equal(owners.holdOwn(OWNER), undefined, "no request comes between");
  assert.equal(await other.owners.take(OWNER, false), false);
  working.resolve();
  await poll(() => other.owners.take(OWNER, false), (taken) => taken);
});
