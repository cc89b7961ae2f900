import { SvcError } from "../../errors.ts";
import type { Scope } from "../../interfaces/mod.ts";
import { GroupCommit } from "./group_commit.ts";
import { SqliteFile, type SqliteOptions } from "./sqlite_file.ts";
import { WriteAheadLog } from "./write_ahead_log.ts";

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

export function fromColumn(value: Uint8Array): string {
  return decoder.decode(value);
}

export interface ScopeColumns {
  readonly owner: Uint8Array;
  readonly namespace: Uint8Array;
}

export function columnsOf({ owner, namespace }: Scope): [owner: Uint8Array, name: Uint8Array] {
  return [toColumn(owner), toColumn(namespace)];
}

export function scopeOf({ owner, namespace }: ScopeColumns): Scope {
  return { owner: fromColumn(owner), namespace: fromColumn(namespace) };
}

/**
 * A file whose writes share transactions with their neighbours in time: each is fsynced before it is
 * answered, and the event loop waits for no fsync. What runs outside of `write` is durable with the
 * next write.
 */
export class Database extends SqliteFile {
  readonly #writer: GroupCommit;
  /** Absent on file systems without WAL, such as network ones: SQLite syncs each commit there. */
  readonly #log: WriteAheadLog | undefined;
  #closed = false;

  /**
   * Opens the file, or makes it.
   *
   * @throws {SvcError} `storage_unavailable` when it cannot be opened or is not a database.
   */
  constructor(options: SqliteOptions) {
    super(options);
    const log = this.#log = this.#openLog(options.path);
    this.changed = log && ((rows, bytes) => log.changed(rows, bytes));
    this.#writer = new GroupCommit({
      begin: () => this.exec("begin immediate"),
      commit: () => this.exec("commit"),
      rollback: () => this.rollback(),
      sync: async () => {
        try {
          await log?.sync();
        } catch (cause) {
          const remedy = "the disk refused to keep a write; restart the relayer once it is mended";
          throw new SvcError("storage_unavailable", `${this.name}: ${remedy}`, { cause });
        }
      },
      get hold() {
        return log?.hold;
      },
    });
  }

  /** Throws the signal's reason when it was aborted, or `storage_unavailable` once closed. */
  check(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#closed) throw new SvcError("storage_unavailable", "The store is closed");
  }

  /** Runs work in a transaction shared with its neighbours in time; durable once it resolves. */
  async write<T>(work: () => T, signal?: AbortSignal): Promise<T> {
    this.check(signal);
    return await this.#writer.add(work, signal);
  }

  /**
   * Overwrites what was deleted: pages are overwritten when they are freed, and here the log, in
   * which earlier ones stand, is emptied.
   *
   * @throws {SvcError} `storage_unavailable` while somebody reads the file, such as a backup.
   */
  async scrub(): Promise<void> {
    this.check(undefined);
    try {
      if (this.#log === undefined) this.exec("pragma wal_checkpoint(truncate)");
      else await this.#log.empty();
    } catch (cause) {
      throw this.failure(cause);
    }
  }

  /** Finishes the writes under way and closes the file. */
  override async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#writer.idle();
    await this.#log?.close();
    await super.close();
  }

  /** Takes the syncs and checkpoints of the log away from SQLite. */
  #openLog(path: string): WriteAheadLog | undefined {
    try {
      const { journal_mode } = this.get<{ journal_mode: string }>("pragma journal_mode")!;
      if (journal_mode !== "wal") return undefined;
      this.exec("pragma synchronous=normal; pragma wal_autocheckpoint=0");
      const onFailed = () => this.exec("pragma wal_autocheckpoint=1000");
      return new WriteAheadLog({ path, onFailed });
    } catch (error) {
      void super.close();
      throw this.failure(error);
    }
  }
}
