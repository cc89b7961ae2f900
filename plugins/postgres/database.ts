import { SvcError } from "../../src/errors.ts";
import type { StoreConnections } from "../../src/interfaces/mod.ts";
import { type ColumnKind, type CopiedRow, CopiedRows } from "./copied_rows.ts";
import type { DatabaseAddress } from "./settings.ts";
// @ts-types="./driver_api.ts"
import { Pool, types } from "pg";
import type { Connection, ConnectionPool } from "./driver_api.ts";
import { framedSocket } from "./framed_socket.ts";
import { migrate } from "./migrations.ts";
import type { Statements } from "./statements.ts";

/** Settings of everything that keeps its rows in a database. */
export interface DatabaseOptions {
  /** Where it is. */
  readonly address: DatabaseAddress;
  /** Most connections of this process; 10 when absent. */
  readonly connections?: number;
}

const CONNECT_MS = 10_000;
/** A statement that takes longer counts as unanswered. */
const ANSWER_MS = 60_000;
const IDLE_MS = 30_000;
/**
 * Begins a transaction. The server ends it when nothing more is heard of it for so long: what it had
 * locked must not wait until the server notices by itself that a machine is gone, which takes hours.
 */
const BEGIN = "begin; set local idle_in_transaction_session_timeout = '15s'";

/** Types of PostgreSQL by number. */
const TYPE = { bytea: 17, bigint: 20 };

/** Bytes of a column, as the server writes them: `\x` and hex. Twice as fast as the driver's own. */
const bytesOf = (text: string): Uint8Array => Uint8Array.fromHex(text.slice(2));

const READERS = {
  getTypeParser(type: number, format?: string): (text: string) => unknown {
    if (type === TYPE.bytea) return bytesOf;
    // Numbers and times in milliseconds: all of them are exact as a number.
    if (type === TYPE.bigint) return Number;
    return types.getTypeParser(type, format);
  },
};

/** SQLSTATE of an error that the server answered. */
function stateOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Why the server refused a statement. */
export interface Refusal {
  /** SQLSTATE. */
  readonly state: string;
  /** Table that it names. */
  readonly table: string | undefined;
}

/** Why the server refused what ended with an error; `undefined` where it was something else. */
export function refusalOf(error: unknown): Refusal | undefined {
  const cause = error instanceof SvcError ? error.cause : error;
  const state = stateOf(cause);
  if (state === undefined) return undefined;
  const table = (cause as { readonly table?: unknown }).table;
  return { state, table: typeof table === "string" ? table : undefined };
}

/** States whose transaction may succeed when it is tried again at once. */
const AGAIN: readonly unknown[] = ["40001", "40P01"];
const TRIES = 5;

/** How states begin with which the server ends a connection, as when it is shut down. */
const GONE = "57P";

/** What the operator has to mend, by the beginning of a state. */
const REASONS: readonly (readonly [state: string, text: string])[] = [
  ["28", "The database refuses the user or the password"],
  ["3D", "There is no such database"],
  ["42501", "The user lacks rights in the database"],
  ["53100", "The disk of the database is full"],
  ["53300", "The database takes no more connections"],
  ["25006", "The database takes no writes: it is a standby"],
];

/** What callers are told: never a statement, a value or what the server said about one. */
function failure(cause: unknown): unknown {
  if (cause instanceof SvcError) return cause;
  const state = stateOf(cause);
  const [, text] = REASONS.find(([start]) => state?.startsWith(start)) ?? [];
  const message = text ??
    (state === undefined
      ? "The database cannot be reached"
      : `The database refused a statement (${state})`);
  return new SvcError("storage_unavailable", message, { cause });
}

class OneConnection implements Statements {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async all<Row>(text: string, ...values: readonly unknown[]): Promise<Row[]> {
    return (await this.#connection.query<Row>({ text, values })).rows;
  }

  async get<Row>(sql: string, ...values: readonly unknown[]): Promise<Row | undefined> {
    return (await this.all<Row>(sql, ...values))[0];
  }
}

/**
 * A database in which this plugin has the schema `svc`. Nothing is kept in a connection beyond its
 * transaction: no prepared statements, no session settings, so that a pooler may stand between.
 */
export class PostgresDatabase implements Statements {
  readonly #pool: ConnectionPool;
  /** Who hears what is notified, by channel. */
  readonly #heard = new Map<string, Set<(payload: string) => void>>();
  #closed: Promise<void> | undefined;

  private constructor(pool: ConnectionPool) {
    this.#pool = pool;
  }

  /**
   * Connects, and brings the schema up to date.
   *
   * @throws {SvcError} `storage_unavailable` when the database cannot be used; `invalid_parameter`
   * when a later version wrote it.
   */
  static async open({ address, connections = 10 }: DatabaseOptions): Promise<PostgresDatabase> {
    const { encryption, password, ...where } = address;
    const database = new PostgresDatabase(
      new Pool({
        ...where,
        password: () => password,
        ssl: encryption === "disable" ? false : {
          rejectUnauthorized: encryption === "verify-full",
          // An address is no name that a server could be told.
          ...(/^[\d.]+$|:/.test(where.host) ? {} : { servername: where.host }),
        },
        max: connections,
        connectionTimeoutMillis: CONNECT_MS,
        query_timeout: ANSWER_MS,
        idleTimeoutMillis: IDLE_MS,
        keepAlive: true,
        application_name: "svc",
        types: READERS,
        // Records of TLS are no messages.
        ...(encryption === "disable" ? { stream: framedSocket } : {}),
      }),
    );
    // Connections that break while no statement is under way, in the pool or between two statements,
    // are told here as well. Whoever has one is told by its next statement.
    database.#pool.on("error", () => {});
    database.#pool.on("connect", (connection) => {
      connection.on("error", () => {});
      database.#listenOn(connection);
    });
    try {
      await database.transaction(migrate);
      return database;
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  /** Throws the signal's reason when it was aborted, or `storage_unavailable` once closed. */
  check(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#closed) throw new SvcError("storage_unavailable", "The store is closed");
  }

  /** @throws {SvcError} `storage_unavailable`. */
  all<Row>(sql: string, ...values: readonly unknown[]): Promise<Row[]> {
    return this.#use((statements) => statements.all<Row>(sql, ...values));
  }

  /** @throws {SvcError} `storage_unavailable`. */
  async get<Row>(sql: string, ...values: readonly unknown[]): Promise<Row | undefined> {
    return (await this.all<Row>(sql, ...values))[0];
  }

  /**
   * Gives each row of a query to `take` as it arrives, with bytes as they are and not as hex. They are
   * the driver's, which uses them again once `take` returned.
   *
   * @param sql Without parameters: nothing but numbers and bytes as hex may be written into it.
   * @param columns The query's columns, in their order.
   * @throws {SvcError} `storage_unavailable`; some rows may have come before.
   */
  async copy<Columns extends Readonly<Record<string, ColumnKind>>>(
    sql: string,
    columns: Columns,
    take: (row: CopiedRow<Columns>) => void,
  ): Promise<void> {
    await this.#lend((connection) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const rows = new CopiedRows(sql, columns, take);
      rows.callback = (error) => error === undefined || error === null ? resolve() : reject(error);
      connection.query(rows);
      return promise;
    });
  }

  /**
   * Runs statements as one. They run again where the server found them in each other's way, so that
   * the work must change nothing but the database.
   *
   * @throws {SvcError} `storage_unavailable`; nothing was written, unless the answer was lost.
   */
  async transaction<T>(work: (statements: Statements) => Promise<T>): Promise<T> {
    return await this.#use(async (statements) => {
      for (let tries = 1;; tries++) {
        await statements.all(BEGIN);
        try {
          const result = await work(statements);
          await statements.all("commit");
          return result;
        } catch (error) {
          await statements.all("rollback");
          if (tries === TRIES || !AGAIN.includes(stateOf(error))) throw error;
        }
      }
    });
  }

  /**
   * Calls with what is notified on a channel; for a pool of one connection, which is listened on. A
   * pooler may keep that to itself, so that nothing may depend on it.
   */
  hear(channel: string, call: (payload: string) => void): Disposable {
    const calls = this.#heard.getOrInsertComputed(channel, () => new Set());
    calls.add(call);
    // Later connections do so by themselves.
    this.all(`listen ${channel}`).catch(() => {});
    return { [Symbol.dispose]: () => void calls.delete(call) };
  }

  #listenOn(connection: Connection): void {
    connection.on("notification", ({ channel, payload = "" }) => {
      for (const call of this.#heard.get(channel) ?? []) call(payload);
    });
    for (const channel of this.#heard.keys()) {
      connection.query({ text: `listen ${channel}` }).catch(() => {});
    }
  }

  /** Its connections at this moment. */
  connections(): StoreConnections {
    const { totalCount, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { busy: totalCount - idle, idle, waiting };
  }

  /** Waits for the statements under way and closes every connection. */
  close(): Promise<void> {
    return this.#closed ??= this.#pool.end();
  }

  #use<T>(work: (statements: Statements) => Promise<T>): Promise<T> {
    return this.#lend((connection) => work(new OneConnection(connection)));
  }

  async #lend<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    this.check(undefined);
    let broken = true;
    try {
      const connection = await this.#pool.connect();
      try {
        const result = await work(connection);
        broken = false;
        return result;
      } catch (error) {
        // Anything but the server's own refusal leaves a connection in an unknown state.
        const state = stateOf(error);
        broken = state === undefined ? !(error instanceof SvcError) : state.startsWith(GONE);
        throw error;
      } finally {
        connection.release(broken);
      }
    } catch (error) {
      throw failure(error);
    }
  }
}
