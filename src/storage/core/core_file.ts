import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { fileFailure } from "../damaged_file.ts";
import { SvcError } from "../../errors.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * A name as a column value: a blob of UTF-8, since node:sqlite cuts text at U+0000.
 *
 * @throws {SvcError} `invalid_parameter` for a lone surrogate, which would be stored like another.
 */
export function toColumn(name: string): Uint8Array {
  if (!name.isWellFormed()) throw new SvcError("invalid_parameter", "A name is not valid Unicode");
  return encoder.encode(name);
}

/** The name behind {@linkcode toColumn}. */
export function fromColumn(value: Uint8Array): string {
  return decoder.decode(value);
}

/**
 * core.db opened once: WAL, every commit fsynced, readable by its owner alone. Failures of SQLite
 * become `storage_unavailable` with the original as their cause; damage is named and not retryable.
 */
export class CoreFile implements Disposable {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #closed = false;

  /** Opens a file or makes it; `:memory:` keeps everything in RAM. */
  constructor(path: string) {
    this.#database = this.#guard(() => open(path));
  }

  /** The first row, or `undefined`. */
  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#guard(() => this.#statement(sql).get(...values)) as Row | undefined;
  }

  /** Every row. */
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#guard(() => this.#statement(sql).all(...values)) as Row[];
  }

  /** Runs a statement that answers no rows. */
  run(sql: string, ...values: SQLInputValue[]): void {
    this.#guard(() => this.#statement(sql).run(...values));
  }

  /** Runs work in one transaction, durable when it returns. */
  write<T>(work: () => T): T {
    this.#guard(() => this.#database.exec("begin immediate"));
    try {
      const result = work();
      this.#guard(() => this.#database.exec("commit"));
      return result;
    } catch (error) {
      // SQLite has rolled back by itself after some errors, such as a full disk.
      if (this.#database.isTransaction) this.#database.exec("rollback");
      throw error;
    }
  }

  /** Closes the file; a second call does nothing. */
  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#statements.clear();
    this.#database.close();
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #guard<T>(call: () => T): T {
    try {
      return call();
    } catch (cause) {
      throw fileFailure(cause, "core.db", "put back a copy of core.db");
    }
  }
}

/**
 * Makes an empty file that its owner alone may read, unless it is there. One that is there is not
 * opened: to close it again would drop the locks that this process has on it
 * (https://www.sqlite.org/howtocorrupt.html, section 2.2).
 */
function createFile(path: string): void {
  try {
    Deno.openSync(path, { createNew: true, write: true, mode: 0o600 }).close();
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
}

function open(path: string): DatabaseSync {
  if (path !== ":memory:") {
    // SQLite gives the -wal and -shm files the mode of the file itself.
    createFile(path);
    if (Deno.build.os !== "windows") Deno.chmodSync(path, 0o600);
  }
  const database = new DatabaseSync(path, { timeout: 5000 });
  try {
    database.exec("pragma journal_mode=wal; pragma synchronous=full; pragma secure_delete=on");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
