import assert from "node:assert/strict";
import type { DispatchConfig } from "../../src/interfaces/config.ts";
import { SvcError } from "../../src/errors.ts";
import { DurableRelayer, type Wrap } from "../memory/durable.ts";
import { Gate, intercepted, Points } from "../memory/intercepted.ts";
import { verifies } from "../requirements.ts";

const NONE: DispatchConfig = { process: false, queue: false, sweeper: false };

/** Accepts jobs, before and after a restart, and waits until all of them are done. */
async function finishesAll(dispatch: DispatchConfig, wrap?: Wrap): Promise<void> {
  const points = new Points();
  const gate = new Gate();
  gate.close();
  const config = { dispatch, failpoint: points.failpoint, jobConcurrency: 2 };
  await using durable = await DurableRelayer.start({
    config,
    wrap: {
      ...wrap,
      embedder: (embedder) =>
        intercepted(embedder, {
          embed: async (next, ...args) => {
            await gate.pass(args[1].signal);
            return await next(...args);
          },
        }),
    },
  });
  const ids: string[] = [];
  const accept = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const text = `fact ${ids.length}`;
      const { status, body } = await durable.svc.post("/api/remember", { text });
      assert.equal(status, 202);
      ids.push(body.job_id);
    }
  };
  await accept(10);
  await gate.reached;
  await durable.cutPower();
  gate.open();
  await accept(20);
  await points.reached("done", ids.length);
  for (const id of ids) {
    const { body } = await durable.svc.get(`/api/remember/${id}`);
    assert.equal(body.status, "done");
  }
  const { body } = await durable.svc.post("/api/stats", {});
  assert.equal(body.memory_count, ids.length);
}

Deno.test("the queue alone finishes every job", async () => {
  verifies("6-2", "8-15");
  await finishesAll({ ...NONE, queue: true });
});

Deno.test("the sweeper alone finishes every job", async () => {
  verifies("6-2", "8-15");
  await finishesAll({ ...NONE, sweeper: true });
});

Deno.test("the process alone finishes every job", async () => {
  await finishesAll({ ...NONE, process: true });
});

Deno.test("the queue alone comes back to a job that was put off", async () => {
  let failures = 1;
  await finishesAll({ ...NONE, queue: true }, {
    vectorStore: (vectorStore) =>
      intercepted(vectorStore, {
        upsert: (next, ...args) => {
          if (failures-- > 0) return Promise.reject(new SvcError("storage_unavailable"));
          return next(...args);
        },
      }),
  });
});

Deno.test("a job that was put off is not hurried by a restart", async () => {
  verifies("8-10", "8-23");
  let asked = 0;
  await using durable = await DurableRelayer.start({
    wrap: {
      vectorStore: (vectorStore) =>
        intercepted(vectorStore, {
          upsert: () => {
            asked++;
            const error = new SvcError("storage_unavailable", undefined, { retryAfter: 600 });
            return Promise.reject(error);
          },
        }),
    },
  });
  const { body } = await durable.svc.post("/api/remember", { text: "tea" });
  await durable.svc.relayer.idle();
  await durable.restart();
  await durable.svc.relayer.idle();
  assert.equal(asked, 1);
  const job = await durable.svc.get(`/api/remember/${body.job_id}`);
  assert.deepEqual([job.body.status, job.body.attempts], ["running", 1]);
});
