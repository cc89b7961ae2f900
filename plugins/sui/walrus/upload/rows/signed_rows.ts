import type { Database } from "../../../../../src/storage/sqlite/database.ts";

/** A transaction, signed. */
export interface SignedTransaction {
  /** Address of the wallet that signed and pays. */
  readonly wallet: string;
  /** Its digest: the chain executes it at most once. */
  readonly digest: string;
  /** BCS of its data. */
  readonly bytes: Uint8Array;
  /** Serialized signature, base64. */
  readonly signature: string;
}

/** A saved transaction. */
export interface SavedTransaction extends SignedTransaction {
  /** Its number. */
  readonly seq: number;
}

/** Transactions in `walrus.db`; what changes something runs inside `database.write`. */
export class SignedRows {
  readonly #database: Database;

  /** Rows of an open file that has the tables of `UPLOAD_SCHEMA`. */
  constructor(database: Database) {
    this.#database = database;
  }

  /** Saves a transaction before it is executed; answers its number. */
  add({ wallet, digest, bytes, signature }: SignedTransaction): number {
    return this.#database.run(
      "insert into signed(wallet, digest, bytes, signature, state) values(?, ?, ?, ?, 'signed')",
      wallet,
      digest,
      bytes,
      signature,
    );
  }

  /** A transaction by its number. */
  get(seq: number): SavedTransaction | undefined {
    return this.#database.get(
      "select seq, wallet, digest, bytes, signature from signed where seq = ?",
      seq,
    );
  }

  /** Transactions of which it is unknown whether they were executed. */
  open(): SavedTransaction[] {
    return this.#database.all(
      "select seq, wallet, digest, bytes, signature from signed where state = 'signed' order by seq",
    );
  }

  /** Ends a transaction. */
  end(seq: number, state: "done" | "void"): void {
    this.#database.run("update signed set state = ? where seq = ?", state, seq);
  }
}
