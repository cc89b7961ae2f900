import type { CheckpointAnswer, CheckpointRequest } from "./checkpoint_messages.ts";

/** The part of a `Worker` that is used. */
export type CheckpointWorker = Pick<Worker, "postMessage" | "terminate"> & {
  onmessage: ((event: MessageEvent<CheckpointAnswer>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
};

const spawnWorker = (): CheckpointWorker =>
  new Worker(new URL("./checkpoint_worker.ts", import.meta.url), { type: "module" });

/**
 * Checkpoints of write-ahead logs in one thread for all databases of the process; it is started by
 * the first checkpoint and ends with the last database that had one.
 */
export class Checkpoints {
  readonly #spawn: () => CheckpointWorker;
  readonly #calls = new Map<number, PromiseWithResolvers<void>>();
  /** Users by database. */
  readonly #users = new Map<string, number>();
  #worker: CheckpointWorker | undefined;
  #lastId = 0;

  /** Starts nothing yet. */
  constructor(spawn: () => CheckpointWorker = spawnWorker) {
    this.#spawn = spawn;
  }

  /**
   * Copies what is in the log of a database into the database; writers go on meanwhile.
   *
   * @throws {Error} when the thread failed.
   */
  run(path: string): Promise<void> {
    return this.#call("checkpoint", path);
  }

  /** Notes a user of a database; each leaves once. */
  join(path: string): void {
    this.#users.set(path, (this.#users.get(path) ?? 0) + 1);
  }

  /** Ends the thread's connection to a database with its last user, and the thread with the last of all. */
  async leave(path: string): Promise<void> {
    const left = (this.#users.get(path) ?? 1) - 1;
    if (left > 0) return void this.#users.set(path, left);
    this.#users.delete(path);
    if (this.#worker !== undefined) await this.#call("close", path).catch(() => {});
    if (this.#users.size === 0) this.#stop("closed");
  }

  async #call(call: CheckpointRequest["call"], path: string): Promise<void> {
    const worker = this.#worker ??= this.#start();
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<void>();
    this.#calls.set(id, answer);
    worker.postMessage({ id, call, path } satisfies CheckpointRequest);
    await answer.promise;
  }

  #start(): CheckpointWorker {
    const worker = this.#spawn();
    worker.onmessage = ({ data }) => {
      const call = this.#calls.get(data.id);
      this.#calls.delete(data.id);
      if (data.error !== undefined) call?.reject(new Error(data.error));
      else call?.resolve();
    };
    worker.onerror = (event) => {
      // Otherwise the error would end this process too.
      event.preventDefault();
      if (worker === this.#worker) this.#stop(event.message);
    };
    return worker;
  }

  #stop(reason: string): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    const lost = [...this.#calls.values()];
    this.#calls.clear();
    for (const { reject } of lost) reject(new Error(reason));
  }
}
