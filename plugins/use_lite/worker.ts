import { stepBack } from "../../src/storage/sqlite/step_back.ts";
import { loadModel } from "./engine/model.ts";
import type { Job, LoadRequest, Request, Response } from "./messages.ts";
import { Scheduler } from "./scheduler.ts";

interface WorkerScope {
  onmessage: ((event: MessageEvent<Request>) => void) | null;
  postMessage(message: Response, transfer?: Transferable[]): void;
}

const scope = globalThis as unknown as WorkerScope;
/** Jobs that came before the model was loaded. This thread has one model. */
const early = new Map<number, Job>();
let settings: LoadRequest;
let loading: Promise<void> | undefined;
let scheduler: Scheduler | undefined;

stepBack();

scope.onmessage = ({ data }) => {
  if ("drop" in data) {
    early.delete(data.drop);
    scheduler?.drop(data.drop);
    return;
  }
  if ("folder" in data) settings = data;
  else if (scheduler !== undefined) return scheduler.add(data);
  else early.set(data.id, data);
  // Also again, after it failed.
  loading ??= load().finally(() => loading = undefined);
};

async function load(): Promise<void> {
  try {
    const { folder, ...options } = settings;
    scheduler = new Scheduler(await loadModel(folder, options), {
      embedded: (id, result) => scope.postMessage({ id, ...result }, [result.vectors.buffer]),
      failed,
    });
    for (const job of early.values()) scheduler.add(job);
  } catch (error) {
    for (const id of early.keys()) failed(id, error);
  }
  early.clear();
}

function failed(id: number, error: unknown): void {
  scope.postMessage({ id, reason: String(error) });
}
