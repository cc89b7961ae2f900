/** One sealed entry of what a key did: whose it is, in a form that names nobody, and when it was. */
export interface ActivityRow {
  /** Rises with time; 0 where the row is not written yet. */
  readonly id: number;
  /** Stands for an account. */
  readonly account: string;
  /** Stands for a key of it. */
  readonly holder: string;
  /** UTC day, counted from the epoch. */
  readonly day: number;
  /** What was done, sealed. */
  readonly entry: Uint8Array;
}

/** Which rows of an account are asked for: those before an id, and of one key where it is named. */
export interface ActivityRange {
  /** Stands for an account. */
  readonly account: string;
  /** Stands for a key of it. */
  readonly holder?: string | undefined;
  /** Id of a row; those before it are asked for. */
  readonly before?: number | undefined;
  /** Most rows that are answered. */
  readonly limit: number;
}

/** How many rows may stay: each key's newest, and of everybody together. */
export interface ActivityBounds {
  /** Rows of a key. */
  readonly perHolder: number;
  /** Rows in all. */
  readonly total: number;
}

/** At once, or later: a file answers at once. */
export type Soon<T> = T | Promise<T>;

/** What keys did, sealed; durable once it is answered. Whatever fails is `storage_unavailable`. */
export interface ActivityRows {
  /**
   * Writes rows, replaces those with an id that is there, and drops what goes beyond a key's bound:
   * a key can push out its own rows and nobody else's. Answers the ids, in order.
   */
  write(rows: readonly ActivityRow[], perHolder: number): Soon<number[]>;
  /** How many rows a key has of a day. */
  countOn(holder: string, day: number): Soon<number>;
  /** Rows of a range, newest first. */
  page(range: ActivityRange): Soon<ActivityRow[]>;
  /** Drops what is older than a day, and where there is too much, the oldest of the busiest keys. */
  prune(oldestDay: number, bounds: ActivityBounds): Soon<void>;
}
