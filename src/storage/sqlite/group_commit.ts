import { setImmediate } from "node:timers";

/** Longest transaction, in milliseconds, so that requests get the event loop in between. */
const MAX_MS = 4;

/** A database connection that a group commit can write through. */
interface Transactional {
  begin(): void;
  /** Commits the transaction; it may be lost by a failure of the machine until it is synced. */
  commit(): void;
  /** Undoes the transaction; never throws. */
  rollback(): void;
  /** Makes what was committed before the call durable. */
  sync(): Promise<void>;
  /** Settles when transactions may begin; `undefined` when they may now. */
  readonly hold?: Promise<void> | undefined;
}

interface Waiting {
  readonly signal: AbortSignal | undefined;
  work(): void;
  /** Answers the caller, once the work is durable. */
  done(): void;
  fail(reason: unknown): void;
}

/**
 * Many writes, one fsync: what arrives in one turn of the event loop shares one transaction, what is
 * committed while the disk is busy shares the next fsync, and each promise settles after its own.
 * The event loop does not wait for the disk.
 *
 * A batch that fails is rolled back and its items run again one by one, so that a bad item does not
 * refuse its neighbours. Work must therefore change nothing but the database. After an fsync that
 * failed nobody knows what is on the disk: everything that waits for it fails, and so does every
 * later write.
 */
export class GroupCommit {
  readonly #database: Transactional;
  readonly #max: number;
  #waiting: Waiting[] = [];
  /** Committed and not synced. */
  #committed: Waiting[] = [];
  #scheduled = false;
  #syncing = false;
  #broken: Refusal | undefined;
  #drained: (() => void)[] = [];

  /** Writes through one connection, at most `max` items a transaction. */
  constructor(database: Transactional, max = 256) {
    this.#database = database;
    this.#max = max;
  }

  /** Runs work in the next transaction; work whose signal was aborted by then is left out. */
  add<T>(work: () => T, signal?: AbortSignal): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let answer: () => void = () => {};
      this.#waiting.push({
        signal,
        work: () => {
          const value = work();
          answer = () => resolve(value);
        },
        done: () => answer(),
        fail: reject,
      });
      this.#schedule();
    });
  }

  /** Resolves when nothing waits. */
  idle(): Promise<void> {
    if (!this.#scheduled && !this.#syncing) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    const { hold } = this.#database;
    if (hold !== undefined) {
      void hold.then(() => setImmediate(() => this.#turn()));
      return;
    }
    this.#write(this.#waiting.splice(0, this.#max).filter(wanted));
    this.#scheduled = false;
    if (this.#waiting.length > 0) this.#schedule();
    if (this.#committed.length > 0) void this.#sync();
    this.#rest();
  }

  #rest(): void {
    if (this.#scheduled || this.#syncing) return;
    for (const resolve of this.#drained.splice(0)) resolve();
  }

  async #sync(): Promise<void> {
    if (this.#syncing) return;
    this.#syncing = true;
    while (this.#committed.length > 0) {
      const batch = this.#committed.splice(0);
      try {
        await this.#database.sync();
        for (const item of batch) item.done();
      } catch (reason) {
        this.#broken = { reason };
        refuse(batch, this.#broken);
        refuse(this.#committed.splice(0), this.#broken);
      }
    }
    this.#syncing = false;
    this.#rest();
  }

  /** Writes a batch. Where no transaction begins, all its items fail with the reason returned. */
  #write(batch: readonly Waiting[]): Refusal | undefined {
    if (batch.length === 0) return undefined;
    if (this.#broken !== undefined) return refuse(batch, this.#broken);
    try {
      this.#database.begin();
    } catch (reason) {
      return refuse(batch, { reason });
    }
    const until = performance.now() + MAX_MS;
    let count = 0;
    try {
      do batch[count++]!.work(); while (count < batch.length && performance.now() < until);
      this.#database.commit();
    } catch (error) {
      this.#database.rollback();
      if (batch.length > 1) return this.#oneByOne(batch);
      batch[0]!.fail(error);
      return undefined;
    }
    this.#committed.push(...batch.slice(0, count));
    this.#waiting.unshift(...batch.slice(count));
    return undefined;
  }

  #oneByOne(batch: readonly Waiting[]): Refusal | undefined {
    for (const [index, item] of batch.entries()) {
      const refusal = this.#write([item]);
      // Asking a busy database again for every item would block for its whole timeout each time.
      if (refusal !== undefined) return refuse(batch.slice(index + 1), refusal);
    }
    return undefined;
  }
}

interface Refusal {
  readonly reason: unknown;
}

function refuse(batch: readonly Waiting[], refusal: Refusal): Refusal {
  for (const item of batch) item.fail(refusal.reason);
  return refusal;
}

function wanted(item: Waiting): boolean {
  if (!item.signal?.aborted) return true;
  item.fail(item.signal.reason);
  return false;
}
