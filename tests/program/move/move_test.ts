import assert from "node:assert/strict";
import { memoryEmbedder } from "../../../plugins/memory/embedder.ts";
import { memoryState } from "../../../plugins/memory/state_store.ts";
import { local } from "../../../plugins/local/mod.ts";
import type { SvcClient } from "../../../src/client/client.ts";
import { SvcError } from "../../../src/errors.ts";
import type { BackendSource } from "../../../src/interfaces/plugin.ts";
import { cancelMove, move } from "../../../src/program/move/move.ts";
import { letInNextKey } from "../../../src/sealing/data_key.ts";
import { RelayerKey } from "../../../src/sealing/relayer_key.ts";
import { CoreDb } from "../../../src/storage/core_db.ts";
import { inHome } from "../../program.ts";
import { answersAgain, everything, KEY, relayerIn, write } from "./everything.ts";

const embedder: BackendSource = { embedder: () => memoryEmbedder() };
const key = { relayerKey: new RelayerKey(KEY), relayerKeySource: "a test" };

function places(home: string) {
  const state = memoryState();
  const embedded = [local(), embedder];
  const shared = [local(), embedder, { store: () => state.open({ leaseMs: 300 }) }];
  return {
    here: { name: "here", dataDir: `${home}/here`, backends: embedded },
    shared: { name: "the store", dataDir: `${home}/shared`, backends: shared },
    back: { name: "back", dataDir: `${home}/back`, backends: embedded },
  };
}

/** How many deletions the activity of an account tells of. */
async function deletions(client: SvcClient): Promise<number> {
  const { entries } = await client.activity({ limit: 200 });
  return entries.filter(({ action }) => action.startsWith("DELETE "))
    .reduce((sum, { count }) => sum + count, 0);
}

Deno.test("everything goes to a shared store, and back, and is as it was", async () => {
  await inHome(async (home) => {
    const { here, shared, back } = places(home);
    let before: string[];
    let written;
    {
      await using relayer = await relayerIn(here.dataDir, here.backends);
      written = await write(await relayer.account("ada"), 30);
      await write(await relayer.account("bob"), 8);
      await relayer.idle();
      before = await everything(await relayer.account("ada"), written);
      assert.equal(await deletions(await relayer.account("ada")), 1);
    }
    const there = (await move({ from: here, to: shared, ...key }))!;
    assert.equal(there.owners, 2);
    assert.equal(there.unfinished, 0);
    await assert.rejects(relayerIn(here.dataDir, here.backends), /was moved to the store/);
    await assert.rejects(move({ from: here, to: shared, ...key }), /was moved to the store/);
    {
      await using relayer = await relayerIn(shared.dataDir, shared.backends);
      const ada = await relayer.account("ada");
      assert.equal(await deletions(ada), 1);
      assert.deepEqual(await everything(ada, written), before);
      await answersAgain(ada, written);
      await assert.rejects(ada.memory(written.deleted), { code: "memory_not_found" });
      await assert.rejects(move({ from: shared, to: back, ...key }), /Another relayer uses/);
    }
    await move({ from: shared, to: back, ...key });
    await assert.rejects(relayerIn(shared.dataDir, shared.backends), /was moved to back/);
    await using relayer = await relayerIn(back.dataDir, back.backends);
    const ada = await relayer.account("ada");
    assert.equal(await deletions(ada), 1);
    assert.deepEqual(await everything(ada, written), before);
    await answersAgain(ada, written);
  });
});

/** Ends a move once so much of it is done, 0 to 1. */
const ended = (part: number) => (done: number) => {
  if (done > part) throw new Error("ended");
};

Deno.test("a move that was ended goes on, and can be given up", async () => {
  await inHome(async (home) => {
    const { here, shared } = places(home);
    let before: string[];
    let written;
    {
      await using relayer = await relayerIn(here.dataDir, here.backends);
      const ada = await relayer.account("ada");
      written = await write(ada, 20);
      await relayer.idle();
      before = await everything(ada, written);
    }
    for (const part of [0, 0.3, 0.5, 0.9]) {
      const progress = ended(part);
      await assert.rejects(move({ from: here, to: shared, ...key, progress }), /ended/);
      await assert.rejects(relayerIn(here.dataDir, here.backends), /is being moved to the store/);
      await assert.rejects(relayerIn(shared.dataDir, shared.backends), /has not ended/);
    }
    await cancelMove(here);
    await assert.rejects(cancelMove(here), /No move from here was begun/);
    {
      await using relayer = await relayerIn(here.dataDir, here.backends);
      assert.deepEqual(await everything(await relayer.account("ada"), written), before);
    }
    await assert.rejects(move({ from: here, to: shared, ...key }), /holds something else/);
    const fresh = places(`${home}/fresh`).shared;
    await move({ from: here, to: fresh, ...key });
    await assert.rejects(cancelMove(here), /was moved to the store/);
    {
      await using relayer = await relayerIn(fresh.dataDir, fresh.backends);
      assert.deepEqual(await everything(await relayer.account("ada"), written), before);
    }
    const { back } = places(home);
    await assert.rejects(move({ from: fresh, to: back, ...key, progress: ended(0.5) }), /ended/);
    await assert.rejects(relayerIn(fresh.dataDir, fresh.backends), /is being moved to back/);
    await assert.rejects(relayerIn(back.dataDir, back.backends), /has not ended/);
    await move({ from: fresh, to: back, ...key });
    await using relayer = await relayerIn(back.dataDir, back.backends);
    assert.deepEqual(await everything(await relayer.account("ada"), written), before);
  });
});

Deno.test("jobs that wait are done at the other place, and failed ones can be tried again", async () => {
  await inHome(async (home) => {
    const { here, shared, back } = places(home);
    const dispatch = { process: false, queue: false, sweeper: false };
    const ids: string[] = [];
    {
      await using relayer = await relayerIn(here.dataDir, here.backends, { dispatch });
      const ada = await relayer.account("ada");
      for (const text of ["One of two", `Two: ${"long ".repeat(6000)}`]) {
        ids.push((await ada.remember(text)).job_id);
      }
      for (const namespace of ["kept", "forgotten"]) {
        ids.push((await ada.remember("Of nothing else", { namespace })).job_id);
      }
    }
    let isBroken = true;
    const broken: BackendSource = {
      embedder: () => {
        const whole = memoryEmbedder();
        const embed: typeof whole.embed = (...given) => {
          if (isBroken) throw new SvcError("invalid_parameter", "No such model");
          return whole.embed(...given);
        };
        return { ...whole, embed };
      },
    };
    const moved = (await move({ from: here, to: shared, ...key }))!;
    assert.equal(moved.unfinished, 4);
    {
      const backends = [...shared.backends, broken];
      await using relayer = await relayerIn(shared.dataDir, backends, { jobMaxAttempts: 1 });
      const ada = await relayer.account("ada");
      const { results } = await ada.waitForAll(ids);
      assert.deepEqual(results.map((job) => job.status), Array(4).fill("failed"));
    }
    assert.equal((await move({ from: shared, to: back, ...key }))!.jobs, 4);
    isBroken = false;
    await using relayer = await relayerIn(back.dataDir, [...back.backends, broken]);
    const ada = await relayer.account("ada");
    // What failed is found by its namespace, and goes with it.
    await ada.forget("forgotten");
    await assert.rejects(ada.retryJob(ids.pop()!), { code: "job_not_retryable" });
    for (const id of ids) {
      await ada.retryJob(id);
      assert.equal((await ada.waitFor(id, { until: "done" })).status, "done");
    }
    assert.match((await ada.recall("One of two")).results[0]!.text, /One of two/);
  });
});

Deno.test("a place that holds something, nothing, or another key is refused", async () => {
  await inHome(async (home) => {
    const { here, shared, back } = places(home);
    await assert.rejects(move({ from: here, to: shared, ...key }), /There is nothing in here yet/);
    for (const { dataDir, backends } of [here, shared, back]) {
      await using relayer = await relayerIn(dataDir, backends);
      await relayer.account("ada");
    }
    const folder = { ...shared, dataDir: `${home}/empty` };
    await assert.rejects(move({ from: here, to: folder, ...key }), /the store holds something/);
    await assert.rejects(move({ from: here, to: back, ...key }), /back holds something else/);
    const other = { ...key, relayerKey: new RelayerKey(new Uint8Array(32).fill(9)) };
    const fresh = places(`${home}/fresh`);
    await assert.rejects(move({ from: here, to: fresh.shared, ...other }), /another relayer key/);
    await using running = await relayerIn(here.dataDir, here.backends);
    await running.account("ada");
    await assert.rejects(move({ from: here, to: fresh.shared, ...key }), /Another relayer uses/);
  });
});

Deno.test("a relayer key that replaced the first one opens what was moved", async () => {
  await inHome(async (home) => {
    const { here, shared } = places(home);
    {
      await using relayer = await relayerIn(here.dataDir, here.backends);
      const ada = await relayer.account("ada");
      await ada.waitFor((await ada.remember("Sealed under the first key")).job_id);
    }
    const next = new Uint8Array(32).fill(8);
    {
      using core = new CoreDb(`${here.dataDir}/core.db`);
      letInNextKey(core, new RelayerKey(KEY), new RelayerKey(next));
    }
    const relayerKey = new RelayerKey(next);
    await move({ from: here, to: shared, ...key, relayerKey });
    const { dataDir, backends } = shared;
    await assert.rejects(relayerIn(dataDir, backends, {}, new Uint8Array(32).fill(9)), /another/);
    await using relayer = await relayerIn(dataDir, backends, {}, next);
    const ada = await relayer.account("ada");
    const { results } = await ada.recall("first key");
    assert.equal(results[0]!.text, "Sealed under the first key");
  });
});

Deno.test("a store on which a relayer runs is refused", async () => {
  await inHome(async (home) => {
    const { here, shared } = places(home);
    await using running = await relayerIn(shared.dataDir, shared.backends);
    await running.account("ada");
    const from = { ...shared, dataDir: `${home}/own` };
    await assert.rejects(move({ from, to: here, ...key }), /Relayers run on the store/);
  });
});
