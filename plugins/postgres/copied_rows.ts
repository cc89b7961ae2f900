import { SvcError } from "../../src/errors.ts";
import type { Submitted, WireConnection } from "./driver_api.ts";

/** How a column of a copy is read; any of them may be empty. */
export type ColumnKind = "bytea" | "bigint" | "integer";

/** What a column of a kind is read as. */
type Value<Kind extends ColumnKind> = Kind extends "bytea" ? Uint8Array : number;

/** A row of a copy. Its bytes are the driver's, which uses them again. */
export type CopiedRow<Columns extends Readonly<Record<string, ColumnKind>>> = {
  readonly [Name in keyof Columns]: Value<Columns[Name]> | null;
};

/** Before the first row: 11 bytes of signature, 4 of flags, and 4 that tell how much follows. */
const HEAD_BYTES = 15;
/** Number of columns that ends a copy. */
const END = -1;

const READERS: { readonly [Kind in ColumnKind]: (view: DataView, at: number) => number } = {
  // Bytes are read below, as they are no number.
  bytea: () => NaN,
  // Numbers and times in milliseconds: all of them are exact as a number.
  bigint: (view, at) => Number(view.getBigInt64(at)),
  integer: (view, at) => view.getInt32(at),
};

/**
 * A query whose rows come in the server's binary form. Rows of a statement come as text, bytes as hex,
 * which the server writes, the network carries and this process reads again; a copy has the bytes.
 * The server sends each row as one message.
 */
export class CopiedRows<Columns extends Readonly<Record<string, ColumnKind>>> implements Submitted {
  readonly #sql: string;
  readonly #columns: readonly (readonly [name: string, kind: ColumnKind])[];
  readonly #take: (row: CopiedRow<Columns>) => void;
  /** What went wrong here: it is told once the server has ended the statement. */
  #failure: unknown;
  #begun = false;
  callback: (error?: unknown) => void = () => {};

  /**
   * @param sql A query without parameters, whose columns are those named, in their order.
   * @param take Gets each row as it arrives.
   */
  constructor(sql: string, columns: Columns, take: (row: CopiedRow<Columns>) => void) {
    this.#sql = sql;
    this.#columns = Object.entries(columns);
    this.#take = take;
  }

  submit(connection: WireConnection): void {
    connection.query(`copy (${this.#sql}) to stdout (format binary)`);
  }

  handleCopyData({ chunk }: { readonly chunk: Uint8Array }): void {
    if (this.#failure !== undefined) return;
    try {
      this.#read(chunk);
    } catch (error) {
      this.#failure = error instanceof RangeError
        ? new SvcError("storage_unavailable", "The database sent rows that cannot be read")
        : error;
    }
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback(this.#failure);
  }

  handleError(error: unknown): void {
    this.callback(error);
  }

  #read(chunk: Uint8Array): void {
    const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let at = 0;
    if (!this.#begun) at = HEAD_BYTES + 4 + view.getInt32(HEAD_BYTES);
    this.#begun = true;
    while (at < chunk.length) {
      const count = view.getInt16(at);
      at += 2;
      if (count === END) return;
      if (count !== this.#columns.length) throw new RangeError("Another number of columns");
      const row: Record<string, Uint8Array | number | null> = {};
      for (const [name, kind] of this.#columns) {
        const length = view.getInt32(at);
        at += 4;
        if (length < 0) {
          row[name] = null;
          continue;
        }
        if (at + length > chunk.length) throw new RangeError("A row in two messages");
        row[name] = kind === "bytea"
          ? new Uint8Array(chunk.buffer, chunk.byteOffset + at, length)
          : READERS[kind](view, at);
        at += length;
      }
      this.#take(row as CopiedRow<Columns>);
    }
  }
}
