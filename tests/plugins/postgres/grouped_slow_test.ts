import assert from "node:assert/strict";
import {
  parseAddress,
  postgresBlobStore,
  postgresJobStore,
} from "../../../plugins/postgres/mod.ts";
import type { AcceptedJob, EndedJob } from "../../../src/interfaces/mod.ts";
import { jobOf } from "../../../testing/job_store.ts";
import { onServer } from "./on_server.ts";

const COUNT = 60;

function ended({ payload: _, ...spec }: AcceptedJob, attempts: number): EndedJob {
  return { ...spec, state: "done", attempts, endedAt: Date.now(), recallable: true };
}

/** Which of the writes were refused, by their place. */
const refusedOf = (results: readonly PromiseSettledResult<unknown>[]) =>
  results.flatMap(({ status }, at) => status === "rejected" ? [at] : []);

onServer((empty) => {
  Deno.test("writes for many jobs share statements, and each is refused by itself", async () => {
    const url = await empty();
    await using store = await postgresJobStore({ address: parseAddress(url), connections: 4 });
    const jobs = Array.from({ length: COUNT }, (_, i) => jobOf(i));
    const leases = await store.accept(jobs, []);
    const stale = new Set([3, 40]);
    const mine = leases.map((lease, i) => stale.has(i) ? { ...lease, turn: 7 } : lease);
    const noted = { attempts: 2, recallable: false, due: 0 };
    assert.deepEqual(
      refusedOf(await Promise.allSettled(mine.map((lease) => store.progress(lease, noted)))),
      [...stale],
    );
    const step = { inline: new Uint8Array([1, 2, 3]) };
    assert.deepEqual(
      refusedOf(await Promise.allSettled(mine.map((lease) => store.saveStep(lease, step)))),
      [...stale],
    );
    // Of two endings of one job at once the first one counts.
    const endings = [1, 2].flatMap((attempts) =>
      mine.map((lease, i) => store.end(lease, ended(jobs[i]!, attempts)))
    );
    const refused = refusedOf(await Promise.allSettled(endings));
    assert.deepEqual(refused, [...stale, ...mine.map((_, i) => COUNT + i)]);
    for (const [i, { id }] of jobs.entries()) {
      assert.equal((await store.ended(id))?.attempts, stale.has(i) ? undefined : 1);
    }
  });

  Deno.test("blobs that are stored at once share statements, also where some were there", async () => {
    const url = await empty();
    await using store = await postgresBlobStore({ address: parseAddress(url), connections: 4 });
    const scope = { owner: "o", namespace: "n" };
    const put = (i: number, key = `k${i}`) =>
      store.put(new Uint8Array([i, 1, 2]), { ...scope, idempotencyKey: key });
    const first = await put(5);
    const ids = await Promise.all(Array.from({ length: COUNT }, (_, i) => put(i + 100)));
    assert.equal(new Set(ids).size, COUNT);
    // A key that was used answers its first blob; the others of its statement are stored all the same.
    const mixed = await Promise.all([
      put(1),
      put(9, "k5"),
      put(2),
      put(2),
      put(3, "twice"),
      put(4, "twice"),
    ]);
    assert.equal(mixed[1], first);
    assert.equal(mixed[2], mixed[3]);
    assert.equal(mixed[4], mixed[5]);
    for (const id of [...ids, ...mixed]) assert.ok(await store.get(id, scope));
    assert.equal((await Array.fromAsync(store.list(scope))).length, COUNT + 4);
  });
});
