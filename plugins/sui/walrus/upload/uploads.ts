import { abortable } from "../../../../src/deadline.ts";
import { SvcError } from "../../../../src/errors.ts";
import type { BackendHealth, PutOptions, Scope } from "../../../../src/interfaces/mod.ts";
import { MAX_TOMBSTONES, type StoreAgain, type StoredBlob } from "../stored_blob.ts";
import { type Batch, Batcher, quiltLimits } from "./batcher.ts";
import { releaseBytes } from "./completion.ts";
import { backoffMs, StepFailure } from "./failure.ts";
import { Pump } from "./pump.ts";
import type { StepParts } from "./steps.ts";
import type { Wallets } from "./wallets.ts";

/** What upkeep needs of writing. */
export type BlobWriter = Pick<Uploads, "put" | "moved" | "storeAgain">;

interface UploadsOptions extends StepParts {
  readonly wallets: Wallets;
  /** How long a lonely item waits for others, in milliseconds. */
  readonly batchMs: number;
  /** How long bytes are kept here once they are stored, in milliseconds. */
  readonly keepMs: number;
  /** Longest wait of a caller, in milliseconds; the item is stored all the same. */
  readonly patienceMs?: number | undefined;
  /** Aborted on closing, which ends the transfers under way. */
  readonly closing: AbortController;
}

/** Longest wait of a caller in milliseconds, who then asks again with the same key. */
const PATIENCE_MS = 300_000;

/** Callers that wait for something by its number. */
class Waiters<T> {
  readonly #waiting = new Map<number, PromiseWithResolvers<T>>();

  /** Waits for a number; rejects with the signal's reason when it aborts. */
  wait(number: number, signal: AbortSignal): Promise<T> {
    const { promise } = this.#waiting.getOrInsertComputed(number, () => {
      const waiting = Promise.withResolvers<T>();
      // Everybody who waits may have given up.
      waiting.promise.catch(() => {});
      return waiting;
    });
    return abortable(promise, signal);
  }

  resolve(number: number, value: T): void {
    this.#waiting.get(number)?.resolve(value);
    this.#waiting.delete(number);
  }

  reject(number: number, reason: unknown): void {
    this.#waiting.get(number)?.reject(reason);
    this.#waiting.delete(number);
  }
}

/**
 * Everything on its way to Walrus. `put` saves an item on disk first; the item goes into a quilt with
 * others of its scope, and `put` returns once that quilt is certified and its owner's. Uploads that
 * an earlier process left go on where they were.
 */
export class Uploads {
  readonly #options: UploadsOptions;
  readonly #batcher: Batcher;
  readonly #pump: Pump;
  readonly #puts = new Waiters<string>();
  readonly #agains = new Waiters<StoredBlob>();
  readonly #closing: AbortController;
  #drained: (() => void)[] = [];
  #timer: (() => void) | undefined;
  #cutting: Promise<void> | undefined;
  #releasing: Promise<void> | undefined;
  #all = false;
  /** Resolves when files that nothing needs are gone; no new ones are written before. */
  readonly #sweeping: Promise<void>;
  #failedCuts = 0;
  /** When items may be cut again after a failure, milliseconds since the epoch. */
  #restUntil = 0;

  constructor(options: UploadsOptions) {
    this.#options = options;
    this.#closing = options.closing;
    const { items, batchMs } = options;
    this.#batcher = new Batcher(batchMs);
    for (const item of items.waiting()) this.#batcher.add(item);
    this.#pump = new Pump({
      ...options,
      done: ({ seq }, ids) => {
        for (const [item, id] of ids) this.#puts.resolve(item, id);
        const again = this.#storedAgain(seq);
        if (again !== undefined) this.#agains.resolve(seq, again);
        this.#release();
      },
      wake: () => this.#wake(),
    });
    this.#sweeping = options.files.sweep(this.#pump.tracks.all().map(({ upload }) => upload));
    if (!this.#isIdle()) this.#wake();
    this.#release();
  }

  /**
   * Stores bytes in a quilt of their scope, or by themselves; returns their id once that blob is
   * certified and its owner's. The same key yields the same id.
   *
   * @throws {SvcError} `storage_unavailable`, retryable, when that takes too long; the item stays.
   */
  async put(bytes: Uint8Array, options: PutOptions): Promise<string> {
    const { catalogue, items, clock, failpoint } = this.#options;
    this.#check(options.signal);
    // Not `slice`: that of a Buffer shares its memory.
    const kept = new Uint8Array(bytes);
    const now = clock.now();
    const put = await catalogue.database.write(() => items.put(kept, options, now), options.signal);
    if (put.id !== undefined) return put.id;
    this.#check(undefined);
    const { owner, namespace, standalone = false, signal } = options;
    const wait = this.#wait(this.#puts, put.seq, signal);
    if (put.isNew) {
      const { seq } = put;
      this.#batcher.add({ seq, owner, namespace, standalone, size: kept.length, createdAt: now });
      failpoint("item");
      this.#wake();
    }
    return await wait;
  }

  /** Removes an item that no blob has taken yet; returns whether there was one. */
  async withdraw(key: string, scope: Scope): Promise<boolean> {
    const { catalogue, items } = this.#options;
    const seq = await catalogue.database.write(() => items.withdraw(key, scope));
    if (seq === undefined) return false;
    this.#batcher.remove(scope, seq);
    this.#puts.reject(seq, new SvcError("storage_unavailable", "The item was withdrawn"));
    this.#wake();
    return true;
  }

  /**
   * Notes, inside `database.write`, that what was put under an id has another one now, which the
   * same key yields from now on.
   */
  moved(scope: Scope, from: string, to: string): void {
    this.#options.items.rename(scope, from, to);
  }

  /** Stores a blob once more and returns the new object; the same key yields the same object. */
  async storeAgain(blob: StoreAgain): Promise<StoredBlob> {
    const { catalogue, uploads, files, clock } = this.#options;
    this.#check(undefined);
    let known = uploads.ofKey(blob, blob.key);
    // Also when it is under way: its file may have been lost.
    if (known?.state !== "done") {
      await this.#sweeping;
      await files.write({ ...blob, seq: 0 }, blob.bytes);
    }
    if (known === undefined) {
      const { owner, namespace, quilt, key } = blob;
      const seq = await catalogue.database.write(() =>
        uploads.ofKey(blob, key)?.seq ??
          uploads.add({ owner, namespace, quilt, key, createdAt: clock.now() })
      );
      this.#pump.tracks.added(seq, clock.now());
      known = uploads.get(seq)!;
    }
    if (known.state === "done") return this.#storedAgain(known.seq)!;
    this.#check(undefined);
    const wait = this.#wait(this.#agains, known.seq, undefined);
    this.#wake();
    return await wait;
  }

  /** Stores what waits without waiting for more, and resolves when nothing is under way. */
  async drain(): Promise<void> {
    this.#check(undefined);
    // Waits for earlier puts, which may not be durable yet.
    await this.#options.catalogue.database.write(() => {});
    this.#check(undefined);
    this.#all = true;
    this.#wake();
    await new Promise<void>((resolve) => this.#drained.push(resolve));
  }

  health(): BackendHealth {
    return this.#pump.troubles.health();
  }

  /** Ends every wait and the steps under way; uploads go on at the next start. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const closed = new SvcError("storage_unavailable", "The store is closed");
    this.#closing.abort(closed);
    this.#timer?.();
    for (const resolve of this.#drained.splice(0)) resolve();
    this.#options.encoder.close();
    await this.#sweeping;
    await this.#cutting;
    await this.#releasing;
    await this.#pump.idle();
  }

  async #wait<T>(waiters: Waiters<T>, number: number, signal: AbortSignal | undefined): Promise<T> {
    const patience = new AbortController();
    const { clock, patienceMs = PATIENCE_MS } = this.#options;
    const cancel = clock.after(patienceMs, () => {
      const { reason } = this.health();
      const message = reason === undefined
        ? "Storing takes longer than usual"
        : `Storing: ${reason}`;
      patience.abort(new SvcError("storage_unavailable", message));
    });
    try {
      const ends = [patience.signal, this.#closing.signal, signal ?? patience.signal];
      return await waiters.wait(number, AbortSignal.any(ends));
    } finally {
      cancel();
    }
  }

  #check(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    this.#closing.signal.throwIfAborted();
  }

  /** Looks once for all that happens in this turn of the event loop. */
  #wake(at = this.#options.clock.now()): void {
    if (this.#closing.signal.aborted) return;
    this.#timer?.();
    const { clock } = this.#options;
    this.#timer = clock.after(Math.max(0, at - clock.now()), () => this.#look());
  }

  #look(): void {
    this.#timer = undefined;
    if (this.#closing.signal.aborted) return;
    const { clock } = this.#options;
    const now = clock.now();
    const isDue = this.#dueAt(now) <= now;
    if (isDue && this.#cutting === undefined) {
      this.#cutting = this.#cut().finally(() => {
        this.#cutting = undefined;
        this.#wake();
      });
    }
    let at = now;
    for (let looks = 0; at <= now && looks < 64; looks++) at = this.#pump.look(now);
    // What is being cut has left the batcher and may not be under way yet.
    const isCutting = this.#cutting !== undefined;
    if (!isCutting && this.#isIdle()) {
      this.#all = false;
      for (const resolve of this.#drained.splice(0)) resolve();
      return;
    }
    if (!isCutting) at = Math.min(at, this.#dueAt(now));
    if (at < Infinity) this.#wake(at);
  }

  /** Whether nothing waits and nothing is under way. */
  #isIdle(): boolean {
    return this.#batcher.count === 0 && this.#pump.tracks.all().length === 0;
  }

  /** When to cut next; `Infinity` when nothing waits. */
  #dueAt(now: number): number {
    if (this.#batcher.count === 0) return Infinity;
    return Math.max(this.#restUntil, this.#all ? now : this.#batcher.dueAt(now));
  }

  async #cut(): Promise<void> {
    const { chain, clock, log } = this.#options;
    try {
      await this.#sweeping;
      const limits = quiltLimits((await chain.state()).shards);
      this.#pump.troubles.worked("chain");
      const batches = this.#batcher.take(clock.now(), { ...limits, all: this.#all });
      while (batches.length > 0) {
        try {
          await this.#add(batches[0]!);
        } catch (error) {
          for (const { items } of batches) for (const item of items) this.#batcher.add(item);
          throw error;
        }
        batches.shift();
      }
      this.#failedCuts = 0;
      this.#options.failpoint("cut");
    } catch (error) {
      const failure = StepFailure.of("disk", error);
      this.#pump.troubles.failed(failure);
      // A single failure is not worth a line, nor is every one of a long row.
      if (++this.#failedCuts % 4 === 2) log("warn", `walrus: ${failure.message}; blobs wait`);
      this.#restUntil = clock.now() + backoffMs(this.#failedCuts);
    }
  }

  async #add({ owner, namespace, quilt, items: batch }: Batch): Promise<void> {
    const { catalogue, items, uploads, clock } = this.#options;
    const scope = { owner, namespace };
    const createdAt = clock.now();
    const seq = await catalogue.database.write(() => {
      // Some may have been withdrawn meanwhile.
      const left = batch.filter((item) => items.isWaiting(item.seq));
      if (left.length === 0) return undefined;
      const tombstones = quilt ? catalogue.untoldTombstones(scope, MAX_TOMBSTONES) : [];
      const seq = uploads.add({ ...scope, quilt, createdAt, tombstones });
      const prefix = randomPrefix();
      for (const [index, item] of left.entries()) {
        items.assign(item.seq, seq, `${prefix}${index.toString(36).padStart(2, "0")}`);
      }
      return seq;
    });
    if (seq !== undefined) this.#pump.tracks.added(seq, createdAt);
  }

  #storedAgain(seq: number): StoredBlob | undefined {
    const upload = this.#options.uploads.get(seq);
    if (upload?.key === undefined || upload.objectId === undefined) return undefined;
    return this.#options.catalogue.stored(upload.objectId);
  }

  /** Releases the bytes of stored items, a few at a time. */
  #release(): void {
    this.#releasing ??= (async () => {
      const { keepMs, clock } = this.#options;
      while (!this.#closing.signal.aborted) {
        if (!await releaseBytes(this.#options, keepMs, clock.now())) break;
      }
    })().catch(() => {}).finally(() => this.#releasing = undefined);
  }
}

/** 6 random characters of `0-9a-z`, so that quilts of equal items have different ids. */
function randomPrefix(): string {
  const [a = 0, b = 0] = crypto.getRandomValues(new Uint32Array(2));
  return ((a * 2 ** 20 + (b >>> 12)) % 36 ** 6).toString(36).padStart(6, "0");
}
