import { abortable } from "../deadline.ts";
import { SvcError } from "../errors.ts";
import { scopeKey } from "../interfaces/scope_key.ts";
import type {
  BlobLink,
  CallOptions,
  IndexEntry,
  ScanPage,
  Scope,
  ScopeCount,
  VectorStore,
} from "../interfaces/mod.ts";
import { Arena } from "./vectors/arena.ts";
import { estimatedBytes } from "./budget.ts";
import {
  type HeldScope,
  type Hindrance,
  hindranceOf,
  LoadQueue,
  LoadShares,
} from "./load_queue.ts";
import { type LoadedScope, ResidentScope } from "./resident_scope.ts";
import { ScanWalk, ScopeLoading, Slices } from "./scope_loading.ts";

/** Most bytes the index uses, whatever its budget: the vectors' memory has 32-bit addresses. */
const MAX_BUDGET = 3.5 * 2 ** 30;

/**
 * Unused blocks up to `free` of the budget do not count, because most are soon used again; of those
 * above at most `most` counts, so that some room for scopes is always left.
 */
const SPARE_SHARE = { free: 1 / 4, most: 1 / 2 };
/** A scope up to this part of the budget is small, and neither yields to large ones nor waits. */
const SMALL_SHARE = 1 / 8;

/** Scopes without memories that are held. */
const MAX_EMPTY = 64;

/** Thrown instead of a reader's error when its scope was evicted meanwhile. */
const DROPPED: unique symbol = Symbol("dropped");

interface ScopeIndexOptions {
  /** Where scopes are loaded from; the index does not close it. */
  readonly vectorStore: Pick<VectorStore, "scan">;
  readonly dimensions: number;
  /**
   * RAM to use, in bytes, at most 3.5 GiB. Above it the scopes read longest ago are evicted whole.
   * Scopes being loaded or read stay, and the one read last unless it is large and others are loaded,
   * so that a scope larger than the budget is still served. Large ones wait for each other.
   */
  readonly budgetBytes: number;
}

interface ScopeIndexStats {
  /** Scopes in RAM, also those being loaded. */
  readonly scopes: number;
  readonly memories: number;
  /** RAM they take, in bytes: vectors and payloads exactly, the rest estimated. */
  readonly bytes: number;
  /** Scopes that were loaded so far, and how long that took together, in seconds. */
  readonly loads: number;
  readonly loadSeconds: number;
}

/**
 * Scopes in RAM, for exact search. A scope is loaded once from the vector store and then follows
 * what is written: call `apply`, `applyLinks` and `remove` after each commit, for one memory in the
 * order of the commits. Changes of scopes that are not loaded are ignored.
 */
export class ScopeIndex implements AsyncDisposable {
  readonly #options: ScopeIndexOptions;
  readonly #budget: number;
  readonly #arena: Arena;
  /** Least recently read first. */
  readonly #held = new Map<string, HeldScope>();
  /** Scopes without memories, least recently read first. */
  readonly #empty = new Set<HeldScope>();
  readonly #running = new Set<Promise<LoadedScope>>();
  readonly #closing = new AbortController();
  readonly #queue = new LoadQueue();
  readonly #shares = new LoadShares();
  #bytes = 0;
  readonly #loaded = { loads: 0, loadSeconds: 0 };

  constructor(options: ScopeIndexOptions) {
    this.#options = options;
    this.#budget = Math.min(options.budgetBytes, MAX_BUDGET);
    this.#arena = new Arena(options.dimensions);
  }

  /**
   * Loads the scope unless it is in RAM, and reads it while it cannot be evicted. Callers share one
   * load, which goes on when a caller's signal ends the call; a failed load is tried again by the
   * next caller.
   * @param reader The scope may be evicted once it returned, or its promise is settled. Run again
   * when the scope was dropped before an asynchronous reader was done.
   * @throws {SvcError} what the vector store throws; `dimension_mismatch` when its vectors have
   * another length; `overloaded` when a scope exceeds 32-bit addresses; `shutting_down`; and what
   * the reader throws.
   */
  async read<T>(
    scope: Scope,
    reader: (loaded: LoadedScope) => T | Promise<T>,
    options: CallOptions = {},
  ): Promise<T> {
    options.signal?.throwIfAborted();
    for (;;) {
      const held = this.#hold(scope);
      held.readers++;
      try {
        // What is there already needs nothing that ends the wait.
        const { ready, loading } = held;
        const loaded = await (loading ? abortable(ready, options.signal) : ready);
        this.#touch(held);
        if (!loaded.released) return await tryRead(loaded, reader);
      } catch (error) {
        if (error !== DROPPED) throw error;
      } finally {
        held.readers--;
        this.#account(held);
        this.#dropEmpty(held);
        this.#evict();
        this.#queue.tell();
      }
    }
  }

  /**
   * Takes over written entries. Lower versions than the known ones are ignored. A scope that cannot
   * take an entry is dropped, and its next load says why.
   * @param texts Texts of entries by id, where they may be indexed now; others are set when read.
   */
  apply(entries: readonly IndexEntry[], texts?: ReadonlyMap<string, string>): void {
    const touched = new Set<HeldScope>();
    for (const entry of entries) {
      const held = this.#held.get(scopeKey(entry));
      if (held === undefined) continue;
      try {
        held.resident.put(entry);
        const text = texts?.get(entry.id);
        if (text !== undefined) held.resident.setText(entry.id, entry.version, text);
        touched.add(held);
      } catch {
        this.#release(held);
      }
    }
    for (const held of touched) this.#account(held);
    this.#evict();
  }

  /** Takes over the blobs of memories; unknown ids and other versions are ignored. */
  applyLinks(scope: Scope, links: readonly BlobLink[]): void {
    const held = this.#held.get(scopeKey(scope));
    if (held === undefined) return;
    for (const link of links) (held.loading ?? held.resident).link(link);
  }

  /** Takes over removals; unknown ids are ignored. */
  remove(scope: Scope, ids: readonly string[]): void {
    const held = this.#held.get(scopeKey(scope));
    if (held === undefined) return;
    for (const id of ids) (held.loading ?? held.resident).remove(id);
    this.#account(held);
    this.#dropEmpty(held);
  }

  /** Forgets the scopes of an owner: somebody else may write to them from now on. */
  forget(owner: string): void {
    for (const held of [...this.#held.values()]) {
      if (held.resident.scope.owner === owner) this.#release(held);
    }
  }

  /** Forgets a scope's texts at the latest after this time, in milliseconds from the first call on. */
  forgetWordsAfter(scope: Scope, milliseconds: number): void {
    const held = this.#held.get(scopeKey(scope));
    if (held === undefined || held.forgetting !== undefined) return;
    const timer = setTimeout(() => {
      held.forgetting = undefined;
      held.resident.forgetWords();
      this.#account(held);
    }, milliseconds);
    Deno.unrefTimer(timer);
    held.forgetting = timer;
  }

  /** Whether a scope is in RAM or on its way there. */
  holds(scope: Scope): boolean {
    return this.#held.has(scopeKey(scope));
  }

  /** Whether a scope is within the budget, by an estimate of what its memories take. */
  fits(scope: Pick<ScopeCount, "count" | "bytes">): boolean {
    return estimatedBytes(scope, this.#options.dimensions) <= this.#budget;
  }

  /**
   * Some memories of a scope for one search, beside what is held; to be released.
   * @throws {SvcError} as {@linkcode ResidentScope.put}.
   */
  gather(scope: Scope, entries: readonly IndexEntry[]): ResidentScope {
    const resident = new ResidentScope(scope, this.#arena);
    try {
      for (const entry of entries) resident.put(entry);
      return resident;
    } catch (error) {
      resident.release();
      throw error;
    }
  }

  stats(): ScopeIndexStats {
    let memories = 0;
    for (const { resident } of this.#held.values()) memories += resident.size;
    return { scopes: this.#held.size, memories, bytes: this.#bytes, ...this.#loaded };
  }

  /** Ends the loads in progress with `shutting_down` and forgets everything. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new SvcError("shutting_down"));
    for (const held of this.#held.values()) this.#release(held);
    await Promise.allSettled(this.#running);
    await this.#arena.settled();
  }

  #hold(scope: Scope): HeldScope {
    if (this.#closing.signal.aborted) throw new SvcError("shutting_down");
    const key = scopeKey(scope);
    return this.#held.get(key) ?? this.#start(scope, key);
  }

  /** Makes a scope the one read last, if it is still held. */
  #touch(held: HeldScope): void {
    if (this.#held.get(held.key) !== held) return;
    this.#held.delete(held.key);
    this.#held.set(held.key, held);
  }

  #start(scope: Scope, key: string): HeldScope {
    const resident = new ResidentScope(scope, this.#arena);
    const loading = new ScopeLoading(resident);
    const { promise: ready, resolve } = Promise.withResolvers<LoadedScope>();
    const held: HeldScope = {
      key,
      resident,
      loading,
      ready,
      readers: 0,
      bytes: 0,
      forgetting: undefined,
    };
    this.#held.set(key, held);
    this.#running.add(ready);
    resolve(this.#fill(held, loading));
    // All callers may have left: a failure that nobody waits for is no unhandled rejection.
    ready.catch(() => {}).finally(() => this.#running.delete(ready));
    return held;
  }

  async #fill(held: HeldScope, loading: ScopeLoading): Promise<LoadedScope> {
    const started = performance.now();
    const leave = await this.#shares.enter(held.resident.scope.owner);
    try {
      if (!held.resident.released) await this.#scan(held, loading);
      held.loading = undefined;
      this.#loaded.loads++;
      this.#loaded.loadSeconds += (performance.now() - started) / 1000;
    } catch (error) {
      if (!held.resident.released) {
        this.#release(held);
        throw SvcError.from(error);
      }
    } finally {
      leave();
      this.#queue.tell();
    }
    // A scope that was dropped while it loaded is loaded again.
    return held.resident.released ? await this.#hold(held.resident.scope).ready : held.resident;
  }

  async #scan(held: HeldScope, loading: ScopeLoading): Promise<void> {
    const options = { signal: this.#closing.signal };
    const read = (cursor?: string): Promise<ScanPage> => {
      const page = this.#options.vectorStore.scan(held.resident.scope, cursor, options);
      page.catch(() => {}); // It may fail before it is awaited, which reports the failure.
      return page;
    };
    const slices = new Slices();
    const walk = new ScanWalk();
    const wait = this.#queue.wait();
    let coming: Promise<ScanPage> | undefined = read();
    while (coming !== undefined) {
      await wait(() => this.#hindrance(held));
      const page: ScanPage = await coming;
      if (held.resident.released) return;
      const cursor = walk.next(page);
      // The next page is opened on the thread pool while this one is taken over.
      coming = cursor === undefined ? undefined : read(cursor);
      if (coming !== undefined) this.#arena.prepare();
      try {
        loading.addPage(page.entries);
        page.release?.();
        this.#account(held);
        this.#evict();
        await slices.rest();
      } catch (error) {
        await Promise.allSettled([coming]);
        throw error;
      }
    }
  }

  #account(held: HeldScope): void {
    if (held.resident.released) return;
    this.#bytes += held.resident.residentBytes - held.bytes;
    held.bytes = held.resident.residentBytes;
  }

  /** Bytes of the scopes, and of unused blocks, which are never given back to the system. */
  get #used(): number {
    const spare = this.#arena.freeBytes - this.#budget * SPARE_SHARE.free;
    return this.#bytes + Math.min(Math.max(0, spare), this.#budget * SPARE_SHARE.most);
  }

  /**
   * Drops scopes without memories, but for those read last: they load at once, and there may be any
   * number of them.
   */
  #dropEmpty(held: HeldScope): void {
    this.#empty.delete(held);
    if (!isIdleAndEmpty(held)) return;
    this.#empty.add(held);
    const [oldest] = this.#empty;
    if (this.#empty.size <= MAX_EMPTY || oldest === undefined) return;
    this.#empty.delete(oldest);
    if (isIdleAndEmpty(oldest)) this.#release(oldest);
  }

  /** Evicts while the budget is exceeded; see `budgetBytes` for what stays. */
  #evict(): void {
    if (this.#used <= this.#budget) return;
    const isAnyLoading = this.#held.values().some(({ loading }) => loading !== undefined);
    let left = this.#held.size;
    for (const held of this.#held.values()) {
      if (this.#used <= this.#budget) return;
      const isLast = --left === 0;
      if (isLast && (!isAnyLoading || held.bytes <= this.#budget * SMALL_SHARE)) return;
      if (held.loading === undefined && held.readers === 0) this.#release(held);
    }
  }

  /** What a load should wait for, because that will make room; `undefined` when it may go on. */
  #hindrance(held: HeldScope): Hindrance | undefined {
    if (held.resident.released || this.#used <= this.#budget) return undefined;
    return hindranceOf(held, [...this.#held.values()], this.#budget * SMALL_SHARE);
  }

  #release(held: HeldScope): void {
    this.#empty.delete(held);
    clearTimeout(held.forgetting);
    held.resident.release();
    this.#bytes -= held.bytes;
    this.#held.delete(held.key);
    this.#queue.tell();
  }
}

function isIdleAndEmpty({ loading, readers, resident }: HeldScope): boolean {
  return loading === undefined && readers === 0 && resident.size === 0 && !resident.released;
}

/** Runs a reader; throws {@linkcode DROPPED} when it failed because the scope was evicted. */
async function tryRead<T>(
  loaded: LoadedScope,
  reader: (loaded: LoadedScope) => T | Promise<T>,
): Promise<T> {
  try {
    return await reader(loaded);
  } catch (error) {
    throw loaded.released ? DROPPED : error;
  }
}
