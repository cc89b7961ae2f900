import { within } from "../../deadline.ts";
import { type Checkpoints, sharedCheckpoints } from "./checkpoints.ts";

/** Bytes written between two checkpoints, about; the log is a few times as long at most. */
const BYTES = 8 * 1024 * 1024;
/** What a changed row costs besides its large values: parts of some pages. */
const ROW_BYTES = 4096;
/** Longest time that writes wait for a checkpoint, and an end for one under way, milliseconds. */
const PATIENCE_MS = 1000;

interface WriteAheadLogOptions {
  /** The database; its log is there. */
  readonly path: string;
  /** Called when the thread fails: from then on commits have to make the checkpoints. */
  readonly onFailed: () => void;
  readonly checkpoints?: Checkpoints;
  /** Replaces the number of bytes between two checkpoints. */
  readonly bytes?: number;
}

/**
 * The write-ahead log of a database in WAL mode with `synchronous=normal` and no checkpoints of its
 * own: makes commits durable, and keeps the log short, without the event loop waiting for the disk.
 * Only where the log starts anew SQLite still syncs its head by itself, once in megabytes.
 *
 * Source of the rule that an fsync of the log makes the commits in it durable, and that checkpoints
 * sync by themselves: https://www.sqlite.org/wal.html and https://www.sqlite.org/pragma.html.
 */
export class WriteAheadLog {
  readonly #path: string;
  readonly #onFailed: () => void;
  readonly #checkpoints: Checkpoints;
  readonly #bytes: number;
  readonly #file: Deno.FsFile;
  #written = 0;
  #running: Promise<void> | undefined;
  #hold: Promise<void> | undefined;
  #closed = false;
  #failed = false;

  /** Opens the log. Throws what the system says when it cannot. */
  constructor(options: WriteAheadLogOptions) {
    const { path, onFailed, checkpoints = sharedCheckpoints, bytes = BYTES } = options;
    this.#path = path;
    this.#onFailed = onFailed;
    this.#checkpoints = checkpoints;
    this.#bytes = bytes;
    this.#file = Deno.openSync(`${path}-wal`, { read: true, write: true });
    checkpoints.join(path);
  }

  /** Settles when writes may go on; they wait so that the log can start anew. */
  get hold(): Promise<void> | undefined {
    return this.#hold;
  }

  /** Makes durable what was committed before the call. */
  async sync(): Promise<void> {
    await this.#file.syncData();
  }

  /** Notes rows that were changed, with values of so many bytes. */
  changed(rows: number, bytes: number): void {
    this.#written += rows * ROW_BYTES + bytes;
    if (this.#written < this.#bytes || this.#running !== undefined) return;
    if (this.#closed || this.#failed) return;
    this.#written = 0;
    const failed = () => {
      this.#failed = true;
      if (!this.#closed) this.#onFailed();
    };
    this.#running = this.#checkpoint().catch(failed).finally(() => this.#running = undefined);
  }

  /**
   * Empties the log, so that nothing deleted stands in it. Writes wait for the little that is left
   * when most of it is copied.
   *
   * @throws {Error} when somebody reads the database at that moment: try it again later.
   */
  async empty(): Promise<void> {
    await this.#running;
    await this.#checkpoints.run(this.#path);
    this.#written = 0;
    const rest = this.#checkpoints.empty(this.#path);
    const held = this.#hold = soon(rest);
    try {
      await rest;
    } finally {
      if (this.#hold === held) this.#hold = undefined;
    }
  }

  /** Closes the log; the last connection to the database copies what is in it. */
  async close(): Promise<void> {
    this.#closed = true;
    await soon(this.#running);
    await soon(this.#checkpoints.leave(this.#path));
    this.#file.close();
  }

  async #checkpoint(): Promise<void> {
    await this.#checkpoints.run(this.#path);
    // Copies the little that was written meanwhile. Writes wait for it: the log starts anew only
    // when all of it is copied before the next write.
    const rest = this.#checkpoints.run(this.#path);
    this.#hold = soon(rest).finally(() => this.#hold = undefined);
    await rest;
  }
}

/** Waits for something for a while; never rejects. */
async function soon(work: Promise<void> | undefined): Promise<void> {
  await within(PATIENCE_MS, (work ?? Promise.resolve()).catch(() => {}));
}
