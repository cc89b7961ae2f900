import type { Packing } from "./packing.ts";
import type { FlushLog, Outgoing } from "./flush_log.ts";
import type { WindowRow, WindowsTable } from "./windows_table.ts";

/** When waiting memories go into the table. */
export interface FlushPolicy {
  /** As soon as so many wait. */
  readonly rows: number;
  /** Or this long after the last write, milliseconds. */
  readonly quietMs: number;
  /** Small commits until the table is optimized; a large one waits for more. */
  readonly commits: number;
  /** Rows of one scope from which a vector index pays; 0: never. */
  readonly vectorIndexRows: number;
}

/** Most memories of one append. */
const BATCH = 1024;
/** Rows of the table for each commit that optimizing waits for, and the most commits. */
const ROWS_A_COMMIT = 8192;
const MOST_COMMITS = 32;
/** After a vector index was made none is made for so many times as long. */
const INDEX_PAUSE = 10;
/** First and longest pause after a failure, milliseconds. */
const PAUSE_MS = { first: 1000, longest: 60_000 };

/**
 * Number of small commits after which a table is optimized. Each of them makes a search some 0.6 ms
 * longer; to merge them the library writes the whole table anew, about 14 ms for 1,000 rows.
 *
 * @param least what a small table waits for.
 * @param rows of the table.
 */
export function commitsUntilOptimized(least: number, rows: number): number {
  return Math.max(least, Math.min(MOST_COMMITS, Math.floor(rows / ROWS_A_COMMIT)));
}

/** Where memories go. */
export interface FlushTarget {
  readonly table: WindowsTable;
  /** Waits until the table's files may change; they may until what it answers is disposed of. */
  readonly mayWrite: () => Promise<Disposable>;
}

/** Carries memories from the catalogue into the table, one batch at a time. */
export class Flusher implements AsyncDisposable {
  readonly #log: FlushLog;
  readonly #table: WindowsTable;
  readonly #packing: Packing;
  readonly #policy: FlushPolicy;
  readonly #mayWrite: () => Promise<Disposable>;
  readonly #failed: (state: string, error: unknown) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  /** Whether something was written since the run under way began. */
  #notified = false;
  #commits = 0;
  /** Whether the table is known to have a vector index. */
  #hasIndex = false;
  /** When the next vector index may be made, by the clock of `performance`. */
  #indexAfter = -Infinity;
  #indexTimer: ReturnType<typeof setTimeout> | undefined;
  /** Failures since the last success. */
  #failures = 0;
  /** Whether the timer is to end the pause after a failure. */
  #pausing = false;
  #closed = false;

  /**
   * @param failed Called with each failure and the state it leaves behind. The work is tried again
   * after a pause that grows.
   */
  constructor(
    log: FlushLog,
    { table, mayWrite }: FlushTarget,
    packing: Packing,
    policy: FlushPolicy,
    failed: (state: string, error: unknown) => void,
  ) {
    this.#log = log;
    this.#mayWrite = mayWrite;
    this.#table = table;
    this.#packing = packing;
    this.#policy = policy;
    this.#failed = failed;
  }

  /** Undoes an append that failed or was cut off, of which any number of rows may be there. */
  async recover(): Promise<void> {
    const range = this.#log.announced();
    if (range === undefined) return;
    await this.#table.removeRange(range.first, range.last);
    await this.#log.withdraw();
  }

  /** To be called after a write or removal. */
  notify(): void {
    // During the pause the same work would fail again.
    if (this.#closed || this.#pausing) return;
    this.#notified = true;
    // The run under way looks again at its end.
    if (this.#running !== undefined) return;
    clearTimeout(this.#timer);
    if (this.#log.waiting() >= this.#policy.rows) return this.#start();
    this.#startAfter(this.#policy.quietMs);
  }

  /**
   * Carries over what waits, and writes the table anew without what was deleted from it.
   *
   * @throws {SvcError} `storage_unavailable`: it has to be tried again.
   */
  async scrub(): Promise<void> {
    clearTimeout(this.#timer);
    while (this.#running !== undefined) await this.#running;
    if (this.#closed) return;
    const scrubbed = (async () => {
      await this.#run();
      using _turn = await this.#mayWrite();
      this.#hasIndex = false;
      await this.#table.rewrite();
      this.#commits = 0;
    })();
    // Also makes the vector index anew, for which what is erased does not wait.
    this.#running = scrubbed.then(() => this.#run()).catch(() => {}).finally(() => {
      this.#running = undefined;
      if (this.#notified) this.notify();
    });
    await scrubbed;
  }

  /** Finishes the batch under way; what waits is carried over by the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#indexTimer);
    await this.#running;
  }

  #startAfter(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      this.#pausing = false;
      this.#start();
    }, milliseconds);
    Deno.unrefTimer(this.#timer as unknown as number);
  }

  #start(): void {
    if (this.#closed || this.#running !== undefined) return;
    this.#running = this.#carry();
  }

  /** Runs as long as enough waits; never rejects. */
  async #carry(): Promise<void> {
    try {
      do {
        this.#notified = false;
        await this.#run();
        this.#failures = 0;
        if (this.#closed) return;
      } while (this.#log.waiting() >= this.#policy.rows);
      if (this.#notified) this.#startAfter(this.#policy.quietMs);
    } catch (error) {
      this.#failed("memories wait in the catalogue", error);
      this.#pause();
    } finally {
      this.#running = undefined;
    }
  }

  #pause(): void {
    if (this.#closed) return;
    this.#pausing = true;
    this.#startAfter(Math.min(PAUSE_MS.longest, PAUSE_MS.first * 2 ** this.#failures++));
  }

  async #run(): Promise<void> {
    for (;;) {
      using _turn = await this.#mayWrite();
      // Before the next announcement replaces the one of an append that failed.
      await this.recover();
      const batch = this.#log.next(BATCH);
      if (batch.length > 0) await this.#append(batch);
      const gone = this.#log.gone(BATCH);
      if (gone.length > 0) {
        await this.#table.remove(gone);
        await this.#log.deleted(gone);
        this.#commits++;
      }
      if (this.#isUntidy()) await this.#optimize();
      await this.#indexVectors();
      if (this.#closed || batch.length < BATCH && gone.length < BATCH) return;
    }
  }

  #isUntidy(): boolean {
    const { commits } = this.#policy;
    if (this.#commits < commits) return false;
    return this.#commits >= commitsUntilOptimized(commits, this.#log.expectedRows());
  }

  /**
   * Optimizes the table. A failure only makes searches slower, so that nothing waits for the next
   * try, which comes after as many commits.
   */
  async #optimize(): Promise<void> {
    this.#commits = 0;
    try {
      await this.#table.optimize();
    } catch (error) {
      this.#failed("small files wait in the table", error);
    }
  }

  /** Makes the vector index where it pays and is not there; without it searches only take longer. */
  async #indexVectors(): Promise<void> {
    const { vectorIndexRows } = this.#policy;
    const pays = vectorIndexRows > 0 && this.#log.largestScope() >= vectorIndexRows;
    if (this.#hasIndex || !pays || this.#closed) return;
    const started = performance.now();
    if (started < this.#indexAfter) return this.#indexLater(this.#indexAfter - started);
    try {
      await this.#table.indexVectors();
      this.#hasIndex = true;
    } catch (error) {
      this.#failed("searches compare with every vector", error);
    }
    const ended = performance.now();
    this.#indexAfter = ended + INDEX_PAUSE * (ended - started);
  }

  #indexLater(milliseconds: number): void {
    if (this.#indexTimer !== undefined) return;
    this.#indexTimer = setTimeout(() => {
      this.#indexTimer = undefined;
      this.#start();
    }, milliseconds);
    Deno.unrefTimer(this.#indexTimer as unknown as number);
  }

  async #append(batch: readonly Outgoing[]): Promise<void> {
    const rows: WindowRow[] = [];
    const windows = new Map<number, number>();
    for (const item of batch) {
      const { seq, scopeId: scope, id, version, owner, namespace, sealed } = item;
      const packed = { scope: { owner, namespace }, id, version, sealed, link: null };
      const entry = this.#packing.openWhole(packed);
      windows.set(seq, entry.vectors.length);
      const rest = this.#packing.sealRest(entry);
      for (const [part, vector] of entry.vectors.entries()) {
        rows.push({ seq, part, scope, vector, sealed: part === 0 ? rest : new Uint8Array() });
      }
    }
    await this.#log.announce({ first: batch[0]!.seq, last: batch.at(-1)!.seq });
    // If this or the confirmation fails, the rows may be there all the same; the next try or the next
    // start undoes them.
    await this.#table.append(rows);
    await this.#log.confirm(windows);
    this.#commits++;
  }
}
