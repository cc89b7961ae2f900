import { stepBack } from "../../src/storage/sqlite/step_back.ts";
import type { Job, Request, Response } from "./messages.ts";
import { loadModel } from "./engine/model.ts";
import { Scheduler } from "./scheduler.ts";

/** What is used of a worker's global scope. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<Request>) => void) | null;
  postMessage(message: Response, transfer?: Transferable[]): void;
}

const scope = globalThis as unknown as WorkerScope;
/** Jobs that came before the model was loaded. This thread has one model. */
const early = new Map<number, Job>();
let scheduler: Scheduler | undefined;

stepBack();

scope.onmessage = ({ data }) => {
  if (data.type === "load") void start(data);
  else if (data.type === "drop") {
    early.delete(data.id);
    scheduler?.drop(data.id);
  } else if (scheduler === undefined) early.set(data.job.id, data.job);
  else scheduler.add(data.job);
};

async function start({ folder, ...options }: Request & { type: "load" }): Promise<void> {
  try {
    const model = await loadModel(folder, options);
    scheduler = new Scheduler(model, {
      embedded: (id, result) =>
        scope.postMessage({ type: "embedded", id, result }, [result.vectors.buffer]),
      failed: (id, error) => scope.postMessage({ type: "failed", id, reason: String(error) }),
    });
    for (const job of early.values()) scheduler.add(job);
    early.clear();
  } catch (error) {
    scope.postMessage({ type: "failed", reason: String(error) });
  }
}
