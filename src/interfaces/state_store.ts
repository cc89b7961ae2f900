import type { ActivityRows } from "./activity_rows.ts";
import type { Scope } from "./common.ts";
import type { JobStore } from "./job_store.ts";

/** When a memory ends. */
export interface Expiry extends Scope {
  /** Memory id. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** When memories end, in that order. Whatever rejects is an `SvcError` `storage_unavailable`. */
export interface ExpiryStore {
  /** Notes when memories end, durably; those that never do are passed over. */
  note(
    memories: readonly (Scope & { readonly id: string; readonly expiresAt?: number })[],
  ): Promise<void>;
  /** What has ended by then, earliest first; a page, the next of which starts after its last. */
  due(now: number, after?: Expiry): Promise<Expiry[]>;
  /** Strikes out what is dealt with. */
  remove(expiries: readonly Expiry[]): Promise<void>;
}

/** A row of the ledger. */
export interface LedgerRow {
  /** Digest that names it within its part. */
  readonly key: Uint8Array;
  /** What it holds, sealed. */
  readonly value: Uint8Array;
}

/** What is written to a part of the ledger at once. */
export interface LedgerChange {
  /** Rows that are written, each in the place of the one with its key. */
  readonly put: readonly LedgerRow[];
  /** Keys of rows that are removed. */
  readonly gone: readonly Uint8Array[];
}

/** All rows of a part, and which writing of it they are of. */
export interface LedgerPart {
  /** Rises with every writing. */
  readonly revision: number;
  /** In any order. */
  readonly rows: readonly LedgerRow[];
}

/**
 * What relayers know beside memories: deletions, versions, choices, keys. It lies in parts, one an
 * owner; that with the empty name belongs to all relayers.
 */
export interface Ledger {
  /** All rows of a part. */
  read(part: string): Promise<LedgerPart>;
  /** Which writing of a part is the last. */
  revision(part: string): Promise<number>;
  /**
   * Changes a part, all of it or nothing; durable once it resolves.
   *
   * @param revision The writing that the change stands on.
   * @returns the revision after it; `undefined` when the part was written since, or an owner's part is
   * another opening's now: nothing was written.
   */
  write(part: string, revision: number, change: LedgerChange): Promise<number | undefined>;
}

/** What an opening learns of its leases. */
export interface LeaseNews {
  /** Owners of this opening whom others ask for. */
  readonly wanted: readonly string[];
  /** Whether the leases had run out: then owners may be somebody else's. */
  readonly hadRunOut: boolean;
}

/** What is heard of an owner before it is asked for. */
export interface LeaseCalls {
  /** Somebody asks for an owner of this opening. */
  wanted(owner: string): void;
  /** An owner that somebody had asked for was let go. */
  free(owner: string): void;
}

/**
 * Which opening works for an owner: one at a time, so that what it holds of the owner in memory is all
 * there is. Leases run out together when they are not renewed.
 */
export interface OwnerLeases {
  /** How long they last without being renewed, milliseconds. */
  readonly lastMs: number;
  /**
   * Takes an owner whom nobody has, or whose lease has run out; the owner's unfinished jobs are nobody's
   * then, whoever had them, until they are claimed.
   *
   * @param ask Lets whoever has it know that it is wanted.
   * @returns whether this opening has it now.
   */
  take(owner: string, ask: boolean): Promise<boolean>;
  /** Lets an owner go; ignored when it is another opening's. */
  release(owner: string): Promise<void>;
  /** Renews the leases of this opening, and tells what others want. */
  renew(): Promise<LeaseNews>;
  /** Calls as soon as something is heard, which need not be; absent where nothing ever is. */
  watch?(calls: LeaseCalls): Disposable;
  /** Owners of this opening. */
  mine(): Promise<string[]>;
  /** How many openings beside this one renew their leases. Absent where a store does not tell. */
  others?(): Promise<number>;
  /** Owners with unfinished jobs whom nobody has. */
  orphaned(limit: number): Promise<string[]>;
}

/** A sliding window, and how much may be spent in it. */
export interface WindowLimit {
  /** 16 bytes that name it, and nobody. */
  readonly name: Uint8Array;
  /** Weight that may be spent in a window. */
  readonly limit: number;
  /** Length of the window in seconds. */
  readonly seconds: number;
}

/**
 * What is counted of those who have no owner, over all openings. It slides in sixty steps, by one
 * clock, and may be lost when the place ends without a warning. Whatever rejects is
 * `storage_unavailable`.
 */
export interface SharedWindows {
  /**
   * Spends a weight in all windows, or in none.
   *
   * @param weight Not above any limit; below 0 it gives back what was spent a moment ago.
   * @returns milliseconds until each window would let it pass; empty when it was spent.
   */
  spend(windows: readonly WindowLimit[], weight: number): Promise<readonly number[]>;
}

/**
 * What the texts of scopes came to when they were analysed, in sealed records. It can be made again out
 * of the memories, so that nothing but time is lost with it.
 */
export interface WordsStore {
  /** The records of a scope, in the order in which they were written; none where nothing is kept. */
  read(scope: Scope): Promise<Uint8Array[]>;
  /** Which writing or removal of a scope is the last, 0 where there was none. */
  turn(scope: Scope): Promise<number>;
  /**
   * Keeps records of a scope in the place of those before: all of them, or nothing.
   *
   * @param turn That of the scope when its memories were as the records have them.
   * @throws {SvcError} `overloaded` where the scope has another turn since, or its owner is another
   * opening's; `storage_unavailable`.
   */
  write(scope: Scope, turn: number, records: readonly Uint8Array[]): Promise<void>;
  /** Removes the records of a scope, and lets nobody write those of before; durable once it resolves. */
  drop(scope: Scope): Promise<void>;
}

/** Connections of an opening to its place. */
export interface StoreConnections {
  /** Open, and in use. */
  readonly busy: number;
  /** Open, and free. */
  readonly idle: number;
  /** Calls that wait for one. */
  readonly waiting: number;
}

/**
 * Everything that a relayer must not lose beside accounts, blobs and index, in one place that several
 * relayers may have open. Its jobs are accepted for owners of this opening only.
 */
export interface StateStore extends AsyncDisposable {
  /**
   * Whether bytes of removed rows stay, sealed, where no call can overwrite them, such as in the log
   * and the free pages of a database server: no deletion is then called erased.
   */
  readonly leavesDeleted?: boolean;
  /** Accepted work. */
  readonly jobs: JobStore;
  /** When memories end. */
  readonly expiries: ExpiryStore;
  /** What relayers know beside memories. */
  readonly ledger: Ledger;
  /** What keys did. */
  readonly activity: ActivityRows;
  /** What is counted of those who have no owner. */
  readonly windows: SharedWindows;
  /** Which relayer works for whom. */
  readonly owners: OwnerLeases;
  /** What the texts of scopes came to. */
  readonly words: WordsStore;
  /** Its connections at this moment; absent where it has none. */
  connections?(): StoreConnections;
}
