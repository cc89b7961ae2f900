import { type Thread, ThreadCalls } from "../../threads.ts";

/** What the thread is asked about a database. */
export interface CheckpointRequest {
  readonly id: number;
  /** `checkpoint` copies what is in the log; `close` ends the thread's own connection. */
  readonly call: "checkpoint" | "close";
  readonly path: string;
}

/** That a call is done, or what went wrong. */
export interface CheckpointAnswer {
  readonly id: number;
  readonly error?: string;
}

const spawnWorker = (): Thread<CheckpointAnswer> =>
  new Worker(new URL("./checkpoint_worker.ts", import.meta.url), { type: "module" });

/**
 * Checkpoints of write-ahead logs in one thread for all databases of the process; the first
 * checkpoint starts it, and it ends with the last database that had one.
 */
export class Checkpoints {
  readonly #calls: ThreadCalls<CheckpointAnswer>;
  /** Users by database. */
  readonly #users = new Map<string, number>();

  constructor(spawn: () => Thread<CheckpointAnswer> = spawnWorker) {
    this.#calls = new ThreadCalls(spawn, (reason) => new Error(reason));
  }

  /**
   * Copies what is in the log of a database into the database; writers go on meanwhile.
   *
   * @throws {Error} when the thread failed.
   */
  run(path: string): Promise<void> {
    return this.#call("checkpoint", path);
  }

  /** Adds a user of a database; each must leave once. */
  join(path: string): void {
    this.#users.set(path, (this.#users.get(path) ?? 0) + 1);
  }

  /**
   * Removes a user. With the last one of a database the thread closes its connection; with the last
   * one of all the thread ends.
   */
  async leave(path: string): Promise<void> {
    const left = (this.#users.get(path) ?? 1) - 1;
    if (left > 0) return void this.#users.set(path, left);
    this.#users.delete(path);
    if (this.#calls.isRunning) await this.#call("close", path).catch(() => {});
    if (this.#users.size === 0) this.#calls.stop(new Error("closed"));
  }

  async #call(call: CheckpointRequest["call"], path: string): Promise<void> {
    const { error } = await this.#calls.call({ call, path });
    if (error !== undefined) throw new Error(error);
  }
}
