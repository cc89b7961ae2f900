import assert from "node:assert/strict";
import {
  parseAddress,
  postgresBlobStore,
  postgresJobStore,
  postgresStateStore,
  postgresVectorStore,
} from "../../../plugins/postgres/mod.ts";
import { entry, SUITE_DIMENSIONS } from "../../../testing/index_entry.ts";
import { doneOf, JOB_SCOPE, jobOf } from "../../../testing/job_store.ts";
import { NO_PGBOUNCER, poolBefore } from "../../pgbouncer.ts";
import { NO_POSTGRES, PostgresServer } from "../../postgres_server.ts";
import { poll } from "../../within.ts";
import { sealerForTests } from "../sealer_for_tests.ts";

const numbers = Array.from({ length: 60 }, (_, number) => number);

Deno.test({
  name: "a pooler may hand out a connection for each transaction",
  ignore: (NO_POSTGRES ?? NO_PGBOUNCER) !== undefined,
  async fn() {
    await using server = await PostgresServer.start();
    await using pool = await poolBefore(server, await server.database());
    const address = parseAddress(pool.url);
    // Many connections to it, of which three have one of the server at a time.
    const options = { address, connections: 20 };
    const opening = () => postgresBlobStore(options).catch(() => undefined);
    await using blobs = (await poll(opening, (store) => store !== undefined))!;
    await using vectors = await postgresVectorStore({
      ...options,
      sealer: sealerForTests(),
      dimensions: SUITE_DIMENSIONS,
      model: "suite",
      segmentSize: 8,
    });
    await using jobs = await postgresJobStore(options);
    await using one = await postgresStateStore(options);
    await using other = await postgresStateStore(options);
    // Whether it is heard or not: what is looked for is there.
    using _watching = one.owners.watch?.({ wanted() {}, free() {} });
    const { owner } = JOB_SCOPE;
    assert.ok(await one.owners.take(owner, true));
    assert.equal(await other.owners.take(owner, true), false);
    assert.deepEqual((await one.owners.renew()).wanted, [owner]);
    await one.owners.release(owner);
    assert.ok(await other.owners.take(owner, true));
    const windows = [{ name: new Uint8Array(16), limit: 20, seconds: 60 }];
    const spent = await Promise.all(
      numbers.map((number) => (number % 2 === 0 ? one : other).windows.spend(windows, 1)),
    );
    assert.equal(spent.filter((waits) => waits.length === 0).length, 20);
    await Promise.all(numbers.map(async (number) => {
      const bytes = Uint8Array.of(number);
      const blobId = await blobs.put(bytes, { ...JOB_SCOPE, idempotencyKey: `${number}` });
      assert.deepEqual(await blobs.get(blobId, JOB_SCOPE), bytes);
      await vectors.upsert([entry(JOB_SCOPE, number)]);
      const [lease] = await jobs.accept([jobOf(number)], []);
      await jobs.progress(lease!, { attempts: 1, recallable: true, due: 0 });
      await jobs.end(lease!, doneOf(jobOf(number)));
    }));
    assert.equal((await vectors.scopes(JOB_SCOPE.owner))[0]?.count, numbers.length);
    assert.equal((await jobs.endedBefore(Infinity, 100)).length, numbers.length);
  },
});
