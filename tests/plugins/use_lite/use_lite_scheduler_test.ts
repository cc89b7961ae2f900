import assert from "node:assert/strict";
import type { Job, JobResult } from "../../../plugins/use_lite/messages.ts";
import type { Model } from "../../../plugins/use_lite/engine/model.ts";
import { Scheduler } from "../../../plugins/use_lite/scheduler.ts";
import type { Scratch } from "../../../plugins/use_lite/engine/scratch.ts";
import { Tokenizer } from "../../../plugins/use_lite/engine/tokenizer.ts";

const STEPS = 12;
const [queryScratch, documentScratch] = [128, 256].map((rows): Scratch => ({
  rows,
  stream: 0,
  normed: 0,
  delta: 0,
  wide: 0,
  packed: 0,
  attention: 0,
  zeros: 0,
})) as [Scratch, Scratch];

/** Runs every window in a few steps, each longer than a slice; `onStep` sees them. */
function model(onStep: (purpose: string, step: number) => void): Model {
  return {
    kernel: "js",
    tokenizer: new Tokenizer([["?", 0]]),
    queryScratch,
    documentScratch,
    transformer: {
      *run(scratch, windows) {
        const purpose = scratch === queryScratch ? "query" : "document";
        for (let step = 0; step < STEPS; step++) {
          for (const end = performance.now() + 3; performance.now() < end;);
          onStep(purpose, step);
          yield;
        }
        return windows.map(() => new Float32Array(512));
      },
    },
  };
}

const job = (id: number, purpose: Job["purpose"], texts = 1): Job => ({
  id,
  purpose,
  texts: Array.from({ length: texts }, () => ({ parts: ["text"], windows: 1 })),
});

/** A listener that settles `done` after a number of jobs. */
function recorder(count: number) {
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const order: string[] = [];
  const results: JobResult[] = [];
  const record = (entry: string) => {
    if (order.push(entry) === count) resolve();
  };
  const listener = {
    embedded(id: number, result: JobResult) {
      results.push(result);
      record(String(id));
    },
    failed: (id: number) => record(`${id} failed`),
  };
  return { done, order, results, listener };
}

Deno.test("a query overtakes waiting documents and the one being computed", async () => {
  const { done, order, listener } = recorder(4);
  const steps: string[] = [];
  const scheduler = new Scheduler(
    model((purpose, step) => {
      steps.push(purpose);
      if (purpose === "document" && step === 2 && !steps.includes("query")) {
        scheduler.add(job(3, "query"));
        scheduler.add(job(4, "query"));
      }
    }),
    listener,
  );
  scheduler.add(job(1, "document"));
  scheduler.add(job(2, "document"));
  await done;
  assert.deepEqual(order, ["3", "4", "1", "2"]);
  assert.equal(steps.indexOf("query"), 3);
});

Deno.test("documents progress however many queries wait", async () => {
  const queries = 12;
  const { done, listener } = recorder(queries + 1);
  const steps: string[] = [];
  const scheduler = new Scheduler(model((purpose) => steps.push(purpose)), listener);
  for (let id = 1; id <= queries; id++) scheduler.add(job(id, "query"));
  scheduler.add(job(0, "document"));
  await done;
  assert.ok(steps.indexOf("document") <= 8 * STEPS);
});

Deno.test("a dropped job is not computed", async () => {
  const { done, order, listener } = recorder(1);
  let documentSteps = 0;
  const scheduler = new Scheduler(
    model((purpose, step) => {
      if (purpose === "document") documentSteps++;
      if (purpose === "document" && step === 1) {
        queueMicrotask(() => {
          scheduler.drop(1);
          scheduler.drop(2);
          scheduler.add(job(3, "query"));
        });
      }
    }),
    listener,
  );
  scheduler.add(job(1, "document"));
  scheduler.add(job(2, "document"));
  await done;
  assert.deepEqual(order, ["3"]);
  assert.equal(documentSteps, 2);
});

Deno.test("a job that fails leaves the others alone", async () => {
  const { done, order, listener } = recorder(2);
  let failures = 1;
  const scheduler = new Scheduler(
    model(() => {
      if (failures-- > 0) throw new Error("broken");
    }),
    listener,
  );
  scheduler.add(job(1, "document"));
  scheduler.add(job(2, "document"));
  await done;
  assert.deepEqual(order, ["1 failed", "2"]);
});

Deno.test("a result has the windows of every text", async () => {
  const { done, results, listener } = recorder(1);
  new Scheduler(model(() => {}), listener).add(job(1, "document", 3));
  await done;
  assert.deepEqual(results[0]!.counts, [1, 1, 1]);
  assert.equal(results[0]!.vectors.length, 3 * 512);
});
