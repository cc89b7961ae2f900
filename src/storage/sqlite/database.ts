import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { SvcError } from "../../errors.ts";
import { GroupCommit } from "./group_commit.ts";
import { WriteAheadLog } from "./write_ahead_log.ts";

/** Which file to open, and how. */
export interface DatabaseOptions {
  /** Folder of the file; made with mode 0700 when it is missing. */
  readonly dataDir: string;
  /** Name of the file, made with mode 0600 when it is missing. */
  readonly file: string;
  /** Statements that make what is missing; they run at every open. */
  readonly schema: string;
  /** What the operator does when the file is damaged. */
  readonly remedy: string;
  /** Page size in bytes of a new file. */
  readonly pageSize?: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Text as a column value. Names are stored as blobs of UTF-8, because node:sqlite cuts a text value
 * at U+0000 when it reads it back.
 *
 * @throws {SvcError} `invalid_parameter` for a lone surrogate: two such names would be stored alike.
 */
export function toColumn(text: string): Uint8Array {
  if (!text.isWellFormed()) throw new SvcError("invalid_parameter", "A name is not valid Unicode");
  return encoder.encode(text);
}

/** The text behind {@linkcode toColumn}. */
export function fromColumn(value: Uint8Array): string {
  return decoder.decode(value);
}

/**
 * One SQLite file: WAL, every write fsynced before it is answered, deleted content overwritten,
 * readable by its owner alone. The event loop waits for no fsync of a write. Every failure of SQLite
 * becomes a `storage_unavailable` with the original as its cause.
 */
export class Database {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #options: DatabaseOptions;
  readonly #writer: GroupCommit;
  /** Absent where the file system has none. */
  readonly #log: WriteAheadLog | undefined;
  #closed = false;

  /**
   * Opens the file, or makes it.
   * @throws {SvcError} `storage_unavailable` when it cannot be opened or is not a database.
   */
  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.#database = this.#guard(() => open(options));
    const path = pathOf(options);
    const onFailed = () => this.#database.exec("pragma wal_autocheckpoint=1000");
    const log = this.#log = this.#guard(() => {
      try {
        return hasLog(this.#database) ? new WriteAheadLog({ path, onFailed }) : undefined;
      } catch (error) {
        this.#database.close();
        throw error;
      }
    });
    this.#writer = new GroupCommit({
      begin: () => this.#guard(() => this.#database.exec("begin immediate")),
      commit: () => this.#guard(() => this.#database.exec("commit")),
      rollback: () => {
        // SQLite has rolled back by itself after some errors, such as a full disk.
        if (this.#database.isTransaction) this.#database.exec("rollback");
      },
      sync: async () => {
        try {
          await log?.sync();
        } catch (cause) {
          const remedy = "the disk refused to keep a write; restart the relayer once it is mended";
          throw new SvcError("storage_unavailable", `${options.file}: ${remedy}`, { cause });
        }
      },
      get hold() {
        return log?.hold;
      },
    });
  }

  /** Write transactions committed so far. */
  get commits(): number {
    return this.#writer.commits;
  }

  /** Throws the signal's reason when it was aborted, or `storage_unavailable` once closed. */
  check(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#closed) throw new SvcError("storage_unavailable", "The store is closed");
  }

  /** The first row, or `undefined`. */
  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#guard(() => this.#statement(sql).get(...values)) as Row | undefined;
  }

  /** Every row. */
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#guard(() => this.#statement(sql).all(...values)) as Row[];
  }

  /**
   * Runs a statement and answers the row id it inserted last. Outside of `write` it is durable with
   * the next write.
   */
  run(sql: string, ...values: SQLInputValue[]): number {
    const { changes, lastInsertRowid } = this.#guard(() => this.#statement(sql).run(...values));
    const bytes = values.reduce<number>((sum, value) => sum + sizeOf(value), 0);
    this.#log?.changed(Number(changes), bytes);
    return Number(lastInsertRowid);
  }

  /** Runs work in a transaction shared with its neighbours in time; durable once it resolves. */
  async write<T>(work: () => T, signal?: AbortSignal): Promise<T> {
    this.check(signal);
    return await this.#writer.add(work, signal);
  }

  /** Finishes the writes under way and closes the file. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#writer.idle();
    await this.#log?.close();
    this.#statements.clear();
    this.#guard(() => this.#database.close());
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
      throw this.#failure(cause);
    }
  }

  #failure(cause: unknown): SvcError {
    if (cause instanceof SvcError) return cause;
    const { file, remedy } = this.#options;
    // node:sqlite tells SQLITE_CORRUPT and SQLITE_NOTADB by their message only.
    const damaged = cause instanceof Error && /malformed|not a database/.test(cause.message);
    return damaged
      ? new SvcError("storage_unavailable", `${file} is damaged: ${remedy}`, {
        cause,
        retryable: false,
      })
      : new SvcError("storage_unavailable", undefined, { cause });
  }
}

const sizeOf = (value: SQLInputValue): number => ArrayBuffer.isView(value) ? value.byteLength : 0;

function hasLog(database: DatabaseSync): boolean {
  const { journal_mode } = database.prepare("pragma journal_mode").get() as {
    journal_mode: string;
  };
  return journal_mode === "wal";
}

/** Makes the file; one that is there is not opened, as closing it again would drop SQLite's locks. */
function createFile(path: string): void {
  try {
    Deno.openSync(path, { createNew: true, write: true, mode: 0o600 }).close();
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
}

const pathOf = ({ dataDir, file }: DatabaseOptions): string => `${dataDir}/${file}`;

function open(options: DatabaseOptions): DatabaseSync {
  const { dataDir, schema, pageSize } = options;
  Deno.mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = pathOf(options);
  // SQLite gives the -wal and -shm files the mode of the file itself.
  createFile(path);
  if (Deno.build.os !== "windows") Deno.chmodSync(path, 0o600);
  const database = new DatabaseSync(path, { timeout: 5000 });
  try {
    if (pageSize !== undefined) database.exec(`pragma page_size=${pageSize}`);
    database.exec("pragma journal_mode=wal; pragma synchronous=full; pragma secure_delete=on");
    database.exec(`begin immediate; ${schema}; commit`);
    // Some network file systems have no write-ahead log: there every commit is synced by itself.
    if (hasLog(database)) {
      // From here on the log is synced and copied by others, see WriteAheadLog.
      database.exec("pragma synchronous=normal; pragma wal_autocheckpoint=0");
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
