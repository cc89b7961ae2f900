import { type Thread, ThreadCalls } from "../../threads.ts";

/** What the thread is asked about a database. */
export interface CheckpointRequest {
  readonly id: number;
  /**
   * `checkpoint` copies what is in the log; `empty` also empties the log; `rewrite` writes the whole
   * database anew; `close` ends the thread's own connection.
   */
  readonly call: "checkpoint" | "empty" | "rewrite" | "close";
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
 * Checkpoints of write-ahead logs, and what else takes long, in one thread for all databases of the
 * process; the first call starts it, and it ends with the last database that had one.
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

  /**
   * Copies what is in the log into the database and empties the log, so that nothing deleted stands
   * in it. Writers have to wait meanwhile.
   *
   * @throws {Error} when somebody reads or writes, or the thread failed.
   */
  empty(path: string): Promise<void> {
    return this.#call("empty", path);
  }

  /**
   * Writes a database anew, with what it holds and nothing else, and empties its log: for one whose
   * own connection leaves deleted bytes in the file. Writers have to wait meanwhile.
   *
   * @throws {Error} when somebody reads or writes, the disk is full, or the thread failed.
   */
  rewrite(path: string): Promise<void> {
    return this.#call("rewrite", path);
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

/** Of the whole process: stores that know nothing of each other share one thread. */
export const sharedCheckpoints = new Checkpoints();
