import { SvcError } from "../../src/errors.ts";
import { type DatabaseOptions, PostgresDatabase } from "./database.ts";

interface Held {
  readonly opening: Promise<PostgresDatabase>;
  users: number;
}

/** Databases that roles of this process use, by address and size of the pool. */
const held = new Map<string, Held>();

/** A role's share in a database that others of this process may use as well. */
export class DatabaseShare implements AsyncDisposable {
  readonly database: PostgresDatabase;
  readonly #leave: () => Promise<void>;
  #left: Promise<void> | undefined;

  private constructor(database: PostgresDatabase, leave: () => Promise<void>) {
    this.database = database;
    this.#leave = leave;
  }

  /**
   * Opens a database, or shares the one that another role has opened: all roles have one pool.
   *
   * @throws {SvcError} as {@linkcode PostgresDatabase.open} does.
   */
  static async open(options: DatabaseOptions): Promise<DatabaseShare> {
    const name = JSON.stringify([options.address, options.connections]);
    const mine = held.get(name) ?? { opening: PostgresDatabase.open(options), users: 0 };
    held.set(name, mine);
    mine.users++;
    const leave = async () => {
      if (--mine.users > 0) return;
      if (held.get(name) === mine) held.delete(name);
      await (await mine.opening.catch(() => undefined))?.close();
    };
    try {
      return new DatabaseShare(await mine.opening, leave);
    } catch (error) {
      await leave();
      throw error;
    }
  }

  /** Throws the signal's reason when it was aborted, or `storage_unavailable` once left. */
  check(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#left) throw new SvcError("storage_unavailable", "The store is closed");
  }

  /** Leaves it; the last one closes it. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#left ??= this.#leave();
  }
}
