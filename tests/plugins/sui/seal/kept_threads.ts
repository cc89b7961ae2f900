import type { Answer, Open, Request } from "../../../../plugins/sui/seal/calls.ts";

const URL_OF_WORKER = new URL("../../../../plugins/sui/seal/worker.ts", import.meta.url);

/**
 * Threads that work on keys for one cipher after the other: each has loaded its libraries once, and
 * what it computes has become fast.
 */
export class KeptThreads implements Disposable {
  readonly #idle: Worker[];

  /** Starts threads; there are more while more are asked for. */
  constructor(count: number) {
    this.#idle = Array.from({ length: count }, started);
  }

  /** A thread as a cipher sees it, which comes back here when it is ended. */
  readonly spawn = (): Worker => {
    const thread = this.#idle.pop() ?? started();
    return keptWorker(thread, () => this.#idle.push(thread)) as unknown as Worker;
  };

  /** Ends the threads. */
  [Symbol.dispose](): void {
    for (const thread of this.#idle) thread.terminate();
  }
}

function started(): Worker {
  return new Worker(URL_OF_WORKER, { type: "module" });
}

/** What {@linkcode WorkerCalls} uses of a worker. */
type Used = Pick<Worker, "onmessage" | "onerror" | "onmessageerror" | "postMessage" | "terminate">;

/** A thread that is given back instead of ended, unless it is at work or in error. */
function keptWorker(thread: Worker, giveBack: () => void): Used {
  const running = new Set<number>();
  const worker: Used = {
    onmessage: null,
    onerror: null,
    onmessageerror: null,
    postMessage(request: Open | Request) {
      if ("call" in request) running.add(request.id);
      thread.postMessage(request);
    },
    terminate() {
      thread.onmessage = thread.onerror = null;
      if (running.size > 0) thread.terminate();
      else giveBack();
    },
  };
  thread.onmessage = (event: MessageEvent<Answer>) => {
    running.delete(event.data.id);
    worker.onmessage?.call(thread, event);
  };
  thread.onerror = (event) => {
    running.add(-1);
    worker.onerror?.call(thread, event);
  };
  return worker;
}
