import { backup, DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { SvcError } from "../../errors.ts";
import { folderOf } from "../private_file.ts";

export interface SqliteOptions {
  /** Path of the file, which is made when it is missing; `:memory:` keeps everything in RAM. */
  readonly path: string;
  /** Statements that make what is missing; they run at every open. */
  readonly schema?: string;
  /**
   * Runs after the schema, in the same transaction: changes what earlier versions wrote, and throws
   * where the file is not for this caller.
   */
  readonly migrate?: (file: SqliteFile) => void;
  /** What the operator does when the file is damaged. */
  readonly remedy?: string;
  readonly pageSize?: number;
}

/** How long a call waits for another process that writes, milliseconds. */
const TIMEOUT_MS = 5000;

/**
 * One SQLite file: WAL, every transaction durable when it returns, deleted content overwritten,
 * readable by its owner alone. Failures of SQLite become `storage_unavailable` with the original as
 * their cause; damage is named and not retryable.
 */
export class SqliteFile {
  /** Told of every statement that ran: rows it changed, and bytes of its large values. */
  protected changed: ((rows: number, bytes: number) => void) | undefined;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  protected readonly name: string;
  readonly #remedy: string | undefined;
  #closed = false;

  /**
   * Opens the file, or makes it with mode 0600 and its folder with 0700.
   *
   * @throws {SvcError} `storage_unavailable` when it cannot be opened or is not a database.
   */
  constructor({ path, schema, migrate, remedy, pageSize }: SqliteOptions) {
    this.name = path.replace(/^.*[/\\]/, "");
    this.#remedy = remedy;
    this.#database = this.#guard(() => connect(path));
    try {
      if (pageSize !== undefined) this.exec(`pragma page_size=${pageSize}`);
      this.exec("pragma journal_mode=wal; pragma synchronous=full; pragma secure_delete=on");
      if (schema === undefined) return;
      this.transaction(() => {
        this.exec(schema);
        migrate?.(this);
      });
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#guard(() => this.#statement(sql).get(...values)) as Row | undefined;
  }

  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#guard(() => this.#statement(sql).all(...values)) as Row[];
  }

  /** Runs a statement and answers the row id it inserted last. */
  run(sql: string, ...values: SQLInputValue[]): number {
    const { changes, lastInsertRowid } = this.#guard(() => this.#statement(sql).run(...values));
    this.changed?.(Number(changes), values.reduce<number>((sum, v) => sum + sizeOf(v), 0));
    return Number(lastInsertRowid);
  }

  /** Runs statements without values one after the other, up to the first that fails. */
  exec(sql: string): void {
    this.#guard(() => this.#database.exec(sql));
  }

  transaction<T>(work: () => T): T {
    this.exec("begin immediate");
    try {
      const result = work();
      this.exec("commit");
      return result;
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  close(): void | Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#statements.clear();
    this.#guard(() => this.#database.close());
  }

  /** Undoes the transaction, unless SQLite did so by itself, as after a full disk. */
  protected rollback(): void {
    if (this.#database.isTransaction) this.#database.exec("rollback");
  }

  protected failure(cause: unknown): SvcError {
    return fileFailure(cause, this.name, this.#remedy);
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
      throw this.failure(cause);
    }
  }
}

const sizeOf = (value: SQLInputValue): number => ArrayBuffer.isView(value) ? value.byteLength : 0;

function connect(path: string): DatabaseSync {
  if (path !== ":memory:") {
    Deno.mkdirSync(folderOf(path), { recursive: true, mode: 0o700 });
    makePrivate(path);
  }
  return new DatabaseSync(path, { timeout: TIMEOUT_MS });
}

/**
 * A database for reading alone, also beside its writer. Where there is no log SQLite leaves an empty
 * one, which the next writer takes up.
 */
export function openForReading(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, timeout: 1000 });
}

/** Copies a database as it is at one moment, also beside its writer. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  using database = openForReading(from);
  // All pages in one step: otherwise each write in between begins it anew.
  await backup(database, to, { rate: -1 });
}

/**
 * Makes a database that its owner alone may read, and takes wider permissions away from one that is
 * there. SQLite gives the files beside it the mode of the file itself.
 */
export function makePrivate(path: string): void {
  try {
    Deno.openSync(path, { createNew: true, write: true, mode: 0o600 }).close();
  } catch (error) {
    // It must not be opened: closing it again would drop the locks that this process has on it
    // (https://www.sqlite.org/howtocorrupt.html, section 2.2).
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    if (Deno.build.os !== "windows") Deno.chmodSync(path, 0o600);
  }
}

/**
 * What a failure of SQLite means to whoever runs the relayer. Damage does not pass by itself: it
 * names the file and what is to be done, and a start that meets it is not tried again.
 */
export function fileFailure(
  cause: unknown,
  file: string,
  remedy = `put back a copy of ${file}`,
): SvcError {
  const original = cause instanceof SvcError ? cause.cause : cause;
  // node:sqlite tells SQLITE_CORRUPT and SQLITE_NOTADB by their message only.
  const isDamaged = original instanceof Error && /malformed|not a database/.test(original.message);
  if (!isDamaged && cause instanceof SvcError) return cause;
  if (!isDamaged) return new SvcError("storage_unavailable", undefined, { cause });
  return new SvcError("storage_unavailable", `${file} is damaged: ${remedy}`, {
    cause,
    retryable: false,
  });
}
