import { Checkpoints } from "./checkpoints.ts";

/** Rows changed between two checkpoints; with pages of 16 KiB, a log of about 16 MB. */
const ROWS = 1000;

const shared = new Checkpoints();

/** Options of {@linkcode WriteAheadLog}. */
export interface WriteAheadLogOptions {
  /** The database. */
  readonly path: string;
  /** Called when checkpoints have to be made by whoever commits: the thread does not work. */
  readonly onFailed: () => void;
  /** Replaces the thread. */
  readonly checkpoints?: Checkpoints;
  /** Replaces the number of rows between two checkpoints. */
  readonly rows?: number;
}

/**
 * The write-ahead log of a database in WAL mode with `synchronous=normal` and no checkpoints of its
 * own: makes commits durable, and keeps the log short, without the event loop waiting for the disk.
 *
 * Source of the rule that an fsync of the log makes the commits in it durable, and that checkpoints
 * sync by themselves: https://www.sqlite.org/wal.html and https://www.sqlite.org/pragma.html.
 */
export class WriteAheadLog {
  readonly #path: string;
  readonly #onFailed: () => void;
  readonly #checkpoints: Checkpoints;
  readonly #rows: number;
  #file: Deno.FsFile | undefined;
  #changed = 0;
  #running: Promise<void> | undefined;
  #hold: Promise<void> | undefined;
  #closed = false;
  #failed = false;

  /** Opens nothing yet. */
  constructor(options: WriteAheadLogOptions) {
    const { path, onFailed, checkpoints = shared, rows = ROWS } = options;
    this.#path = path;
    this.#onFailed = onFailed;
    this.#checkpoints = checkpoints;
    this.#rows = rows;
  }

  /** Settles when writes may go on: a log that is written to all the time never starts anew. */
  get hold(): Promise<void> | undefined {
    return this.#hold;
  }

  /** Makes durable what was committed before the call. */
  async sync(): Promise<void> {
    this.#file ??= Deno.openSync(`${this.#path}-wal`, { read: true, write: true });
    await this.#file.syncData();
  }

  /** Notes rows that were changed. */
  changed(rows: number): void {
    this.#changed += rows;
    if (this.#changed < this.#rows || this.#running !== undefined) return;
    if (this.#closed || this.#failed) return;
    this.#changed = 0;
    const failed = () => {
      this.#failed = true;
      this.#onFailed();
    };
    this.#running = this.#checkpoint().catch(failed).finally(() => this.#running = undefined);
  }

  /** Lets go of the log; what is in it is for the last connection to copy. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    await this.#checkpoints.close(this.#path);
    this.#file?.close();
    this.#file = undefined;
  }

  async #checkpoint(): Promise<void> {
    await this.#checkpoints.run(this.#path);
    // Little is left: what was written meanwhile. The log starts anew when all of it is copied
    // before the next write.
    this.#hold = this.#checkpoints.run(this.#path).then(() => {}, () => {});
    await this.#hold;
    this.#hold = undefined;
  }
}
