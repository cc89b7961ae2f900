import { stepBack } from "../../src/storage/sqlite/step_back.ts";
import type { WorkerScope } from "../../src/threads.ts";
import { Encoder } from "./encoder.ts";
import type { Job, LoadRequest, Request, Response } from "./messages.ts";
import { BrokenModel } from "./models/files.ts";

/** Pause before a model that could not be opened is tried again, in milliseconds. */
const PAUSE_MS = 5000;

const scope = globalThis as unknown as WorkerScope<Request, Response>;
const queries: Job[] = [];
const documents: Unfinished[] = [];
let settings: LoadRequest;
let encoder: Promise<Encoder> | undefined;
/** When it was tried to open the model, on the clock of this thread. */
let openedAt = 0;
let isRunning = false;

/** A job with documents, and what is done of it. */
interface Unfinished {
  readonly job: Job;
  readonly vectors: Float32Array<ArrayBuffer>[];
}

stepBack();

scope.onmessage = ({ data }) => {
  if ("folder" in data) settings = data;
  else if ("drop" in data) drop(data.drop);
  else if (data.purpose === "query") queries.push(data);
  else documents.push({ job: data, vectors: [] });
  if (!isRunning) void run();
};

/** Forgets a job that is over, or that nobody waits for any more. */
function drop(id: number): void {
  const query = queries.findIndex((job) => job.id === id);
  if (query >= 0) queries.splice(query, 1);
  const document = documents.findIndex(({ job }) => job.id === id);
  if (document >= 0) documents.splice(document, 1);
}

/** The model; one that could not be opened is tried again after a while: it may be mended. */
async function opened(): Promise<Encoder> {
  if (encoder === undefined) {
    openedAt = performance.now();
    encoder = Encoder.open(settings);
  }
  try {
    return await encoder;
  } catch (error) {
    if (performance.now() > openedAt + PAUSE_MS) encoder = undefined;
    throw error;
  }
}

/** Works until nothing is left: queries first, documents a batch at a time. */
async function run(): Promise<void> {
  isRunning = true;
  await opened().catch(() => {});
  for (;;) {
    const query = queries.shift();
    const [document] = documents;
    if (query !== undefined) await answer(query.id, () => embedAll(query.texts));
    else if (document !== undefined) await advance(document);
    else break;
    // Messages come in while this thread waits for nothing else.
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  isRunning = false;
}

async function embedAll(texts: readonly string[]): Promise<Float32Array<ArrayBuffer>[]> {
  const model = await opened();
  const vectors = [];
  for (let at = 0; at < texts.length; at += model.batch) {
    vectors.push(...await model.embed(texts.slice(at, at + model.batch)));
  }
  return vectors;
}

/** One batch of a job with documents, and its answer after the last one. */
async function advance({ job, vectors }: Unfinished): Promise<void> {
  const rest = job.texts.length - vectors.length;
  let isOver = false;
  await answer(job.id, async () => {
    isOver = true;
    const model = await opened();
    const next = job.texts.slice(vectors.length, vectors.length + model.batch);
    vectors.push(...await model.embed(next));
    isOver = rest <= next.length;
    return isOver ? vectors : undefined;
  });
  if (isOver) drop(job.id);
}

/** Sends what the work comes to; nothing where it goes on. */
async function answer(
  id: number,
  work: () => Promise<readonly Float32Array<ArrayBuffer>[] | undefined>,
): Promise<void> {
  try {
    const vectors = await work();
    if (vectors === undefined) return;
    scope.postMessage({ id, vectors }, vectors.map(({ buffer }) => buffer));
  } catch (error) {
    const isBroken = error instanceof BrokenModel;
    scope.postMessage({ id, reason: isBroken ? error.message : String(error), isBroken });
  }
}
