import { setImmediate } from "node:timers";

/** A transaction takes nothing more after so many milliseconds: others want the event loop, too. */
const MAX_MS = 8;

/** A database connection that a group commit can write through. */
export interface Transactional {
  /** Starts a write transaction. */
  begin(): void;
  /** Makes the transaction durable. */
  commit(): void;
  /** Undoes the transaction; never throws. */
  rollback(): void;
}

interface Waiting {
  readonly signal: AbortSignal | undefined;
  work(): void;
  /** Answers the caller, once the work is durable. */
  done(): void;
  fail(reason: unknown): void;
}

/**
 * Many writes, one fsync: what arrives in one turn of the event loop shares one transaction, and
 * each promise settles after the commit.
 *
 * A batch that fails is rolled back and its items run again one by one, so that a bad item does not
 * refuse its neighbours. Work must therefore change nothing but the database.
 */
export class GroupCommit {
  readonly #database: Transactional;
  readonly #max: number;
  #waiting: Waiting[] = [];
  #scheduled = false;
  #drained: (() => void)[] = [];
  #commits = 0;

  /** Writes through one connection, at most `max` items a transaction. */
  constructor(database: Transactional, max = 256) {
    this.#database = database;
    this.#max = max;
  }

  /** Transactions committed so far. */
  get commits(): number {
    return this.#commits;
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
    if (!this.#scheduled) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#write(this.#waiting.splice(0, this.#max).filter(wanted));
    this.#scheduled = false;
    if (this.#waiting.length > 0) this.#schedule();
    else for (const resolve of this.#drained.splice(0)) resolve();
  }

  /** Answers why the database could not be used at all, after failing every item with it. */
  #write(batch: readonly Waiting[]): Refusal | undefined {
    if (batch.length === 0) return undefined;
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
    this.#commits++;
    for (const item of batch.slice(0, count)) item.done();
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
