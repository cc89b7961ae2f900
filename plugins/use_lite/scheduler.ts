import { setImmediate } from "node:timers";
import type { Job, JobResult } from "./messages.ts";
import type { Model } from "./engine/model.ts";
import { mapQuery } from "./engine/query_map.ts";
import type { Scratch } from "./engine/scratch.ts";
import { DIMENSIONS, windowsOf } from "./engine/windows.ts";

/** Longest time for which documents keep queries waiting, in milliseconds. */
const SLICE = 2;
/** Queries that may run between two slices of a document, so that documents always progress. */
const QUERIES_IN_A_ROW = 8;

interface JobListener {
  embedded(id: number, result: JobResult): void;
  failed(id: number, error: unknown): void;
}

/**
 * Deno's event loop looks at what other threads woke only every 31 turns while it is busy. One
 * turn takes two microseconds with setImmediate, and a millisecond with setTimeout.
 */
const TURNS = 40;

async function letMessagesIn(turns: number): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}

interface RunningJob {
  readonly id: number;
  readonly steps: Generator<void, JobResult>;
}

/**
 * Runs jobs on one thread. Documents run in slices; between slices other messages are let in, and
 * waiting queries run at once, on a scratch area of their own.
 */
export class Scheduler {
  readonly #model: Model;
  readonly #listener: JobListener;
  readonly #queries: RunningJob[] = [];
  readonly #documents: RunningJob[] = [];
  #running = false;

  /** Takes a model that no one else runs. */
  constructor(model: Model, listener: JobListener) {
    this.#model = model;
    this.#listener = listener;
  }

  /** Queues a job; nothing runs before the caller's turn of the event loop ends. */
  add(job: Job): void {
    const { queryScratch, documentScratch } = this.#model;
    const query = job.purpose === "query";
    const steps = jobSteps(this.#model, query ? queryScratch : documentScratch, job);
    (query ? this.#queries : this.#documents).push({ id: job.id, steps });
    if (!this.#running) void this.#run();
  }

  /** Forgets a job that nobody waits for any more; neither listener hears of it. */
  drop(id: number): void {
    for (const queue of [this.#queries, this.#documents]) {
      const index = queue.findIndex((job) => job.id === id);
      if (index >= 0) queue.splice(index, 1);
    }
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#queries.length + this.#documents.length > 0) {
      await letMessagesIn(this.#documents.length > 0 ? TURNS : 1);
      for (let n = 0; n < QUERIES_IN_A_ROW && this.#queries.length > 0; n++) {
        this.#advance(this.#queries, Infinity);
      }
      this.#advance(this.#documents, performance.now() + SLICE);
    }
    this.#running = false;
  }

  /** Runs the first job of a queue until a time. */
  #advance(queue: RunningJob[], until: number): void {
    const job = queue[0];
    if (job === undefined) return;
    try {
      do {
        const { done, value } = job.steps.next();
        if (done) {
          queue.shift();
          this.#listener.embedded(job.id, value);
          return;
        }
      } while (performance.now() < until);
    } catch (error) {
      queue.shift();
      this.#listener.failed(job.id, error);
    }
  }
}

function* jobSteps(
  model: Model,
  scratch: Scratch,
  { purpose, texts }: Job,
): Generator<void, JobResult> {
  const windows: Uint16Array[] = [];
  const counts: number[] = [];
  const known: number[] = [];
  for (const text of texts) {
    const own = windowsOf(model.tokenizer, text);
    windows.push(...own);
    counts.push(own.length);
    known.push(own[0] === undefined ? 1 : model.tokenizer.known(own[0]));
    yield;
  }
  const vectors = new Float32Array(windows.length * DIMENSIONS);
  const separate = yield* model.transformer.run(scratch, windows);
  separate.forEach((vector, i) => {
    if (purpose === "query") mapQuery(vector);
    vectors.set(vector, i * DIMENSIONS);
  });
  return { counts, known, vectors };
}
