import { abortable } from "./deadline.ts";

/** What is used of a `Worker` that answers calls. */
export interface Thread<Answer> {
  postMessage(message: unknown): void;
  terminate(): void;
  onmessage: ((event: MessageEvent<Answer>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
  onmessageerror?: ((event: MessageEvent) => void) | null;
}

/** What is used of a worker's own global scope, which is not among the types of this program. */
export interface WorkerScope<Request, Answer> {
  onmessage: ((event: MessageEvent<Request>) => void) | null;
  postMessage(message: Answer, transfer?: Transferable[]): void;
}

/**
 * Calls that a worker thread answers, in any order: each request has a number as its `id`, and its
 * answer has the same. The first call starts the thread. A thread that dies fails the calls it had,
 * and the next call starts another one. Of a call that nobody waits for any more the thread hears as
 * `{ drop: id }`, and need not answer it.
 */
export class ThreadCalls<Answer extends { readonly id: number }> {
  readonly #spawn: () => Thread<Answer>;
  readonly #lost: (reason: string) => Error;
  readonly #told: (message: Answer) => void;
  readonly #calls = new Map<number, PromiseWithResolvers<Answer>>();
  #worker: Thread<Answer> | undefined;
  #lastId = 0;

  /**
   * @param lost Makes the error that calls of a thread fail with when it dies.
   * @param told Takes messages that answer no call.
   */
  constructor(
    spawn: () => Thread<Answer>,
    lost: (reason: string) => Error,
    told: (message: Answer) => void = () => {},
  ) {
    this.#spawn = spawn;
    this.#lost = lost;
    this.#told = told;
  }

  /** How many calls wait for their answer. */
  get waiting(): number {
    return this.#calls.size;
  }

  /** Whether there is a thread. */
  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  /** Starts the thread, unless there is one. */
  start(): Thread<Answer> {
    return this.#worker ??= this.#start();
  }

  /** Sends a request and waits for its answer, or until the signal aborts. */
  async call(request: object, signal?: AbortSignal): Promise<Answer> {
    const worker = this.start();
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<Answer>();
    this.#calls.set(id, answer);
    worker.postMessage({ ...request, id });
    try {
      return await abortable(answer.promise, signal);
    } finally {
      if (this.#calls.delete(id)) worker.postMessage({ drop: id });
    }
  }

  /** Ends the thread; calls that wait reject with the error. */
  stop(error: Error): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    const lost = [...this.#calls.values()];
    this.#calls.clear();
    for (const { reject } of lost) reject(error);
  }

  #start(): Thread<Answer> {
    const worker = this.#spawn();
    const fail = (reason: string) => {
      if (worker === this.#worker) this.stop(this.#lost(reason));
    };
    worker.onmessage = ({ data }) => {
      if (worker !== this.#worker) return;
      const call = this.#calls.get(data.id);
      this.#calls.delete(data.id);
      if (call === undefined) this.#told(data);
      else call.resolve(data);
    };
    worker.onerror = (event) => {
      // Otherwise the error would end this process too.
      event.preventDefault();
      fail(event.message);
    };
    worker.onmessageerror = () => fail("An answer of the worker could not be read");
    return worker;
  }
}
