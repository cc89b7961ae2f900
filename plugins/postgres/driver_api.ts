/** The part of npm `pg` 8 that this plugin uses: the package has no type declarations of its own. */

/** What a statement answered. */
export interface Answer<Row> {
  readonly rows: Row[];
}

/** One connection, taken out of a pool. */
export interface Connection {
  query<Row>(statement: Statement): Promise<Answer<Row>>;
  /** Gives it back; with an argument it is closed instead. */
  release(broken?: boolean): void;
  on(event: "error", listener: (error: Error) => void): void;
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
}

/** Connections that are opened when they are needed. */
export interface ConnectionPool {
  connect(): Promise<Connection>;
  end(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): void;
  on(event: "connect", listener: (connection: Connection) => void): void;
}

/** Makes pools. */
export declare const Pool: new (options: PoolOptions) => ConnectionPool;

/** How values are read unless a pool says otherwise. */
export declare const types: TypeReaders;
