import type { Socket } from "node:net";

/** The part of npm `pg` 8 that this plugin uses: the package has no type declarations of its own. */

/** What a statement answered. */
export interface Answer<Row> {
  readonly rows: Row[];
}

/** One connection, taken out of a pool. */
export interface Connection {
  query<Row>(statement: Statement): Promise<Answer<Row>>;
  /** Runs something that reads its answer itself; `callback` tells how it ended. */
  query(submitted: Submitted): void;
  /** Gives it back; with an argument it is closed instead. */
  release(broken?: boolean): void;
  on(event: "error", listener: (error: Error) => void): void;
  on(event: "notification", listener: (notification: Notification) => void): void;
}

/** What somebody notified. */
export interface Notification {
  readonly channel: string;
  readonly payload?: string;
}

/** Where a statement is sent, in the driver's own words. */
export interface WireConnection {
  query(text: string): void;
}

/** A statement that reads its answer itself. */
export interface Submitted {
  /** Set before it is sent; called once. The driver wraps it to end what takes too long. */
  callback: (error?: unknown) => void;
  submit(connection: WireConnection): void;
  /** A message of a copy; its bytes are the driver's, which uses them again. */
  handleCopyData(message: { readonly chunk: Uint8Array }): void;
  handleCommandComplete(): void;
  /** The server has ended the statement, and no error came before. */
  handleReadyForQuery(): void;
  handleError(error: unknown): void;
}

/** A statement with its values. */
export interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** How values of a type are read. */
export interface TypeReaders {
  getTypeParser(type: number, format?: string): (text: string) => unknown;
}

/** Where a pool connects to, and how. */
export interface PoolOptions {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** A function: for an empty text the driver would look into the environment and into files. */
  readonly password: () => string;
  readonly database: string;
  readonly ssl: false | { readonly rejectUnauthorized: boolean; readonly servername?: string };
  readonly max: number;
  readonly connectionTimeoutMillis: number;
  readonly query_timeout: number;
  readonly idleTimeoutMillis: number;
  readonly keepAlive: boolean;
  readonly application_name: string;
  readonly types: TypeReaders;
  /** Makes the socket; the driver's own when absent. */
  readonly stream?: () => Socket;
}

/** Connections that are opened when they are needed. */
export interface ConnectionPool {
  connect(): Promise<Connection>;
  /** How many there are. */
  readonly totalCount: number;
  /** Of these, how many nobody uses. */
  readonly idleCount: number;
  /** Who waits for one. */
  readonly waitingCount: number;
  end(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): void;
  on(event: "connect", listener: (connection: Connection) => void): void;
}

/** Makes pools. */
export declare const Pool: new (options: PoolOptions) => ConnectionPool;

/** How values are read unless a pool says otherwise. */
export declare const types: TypeReaders;
