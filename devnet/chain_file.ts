import { GrpcTypes } from "@mysten/sui/grpc";
import { DatabaseSync } from "node:sqlite";
import type { Chain } from "./sui/chain.ts";
import type { ChainEvent, TransactionRecord } from "./sui/ledger.ts";
import type { ChainObject } from "./sui/object.ts";
import { reinstallPublished } from "./sui/publish.ts";

/** Layout of the file; another one is refused. */
const LAYOUT = 1;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS objects (id TEXT PRIMARY KEY, object TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS transactions (
    number INTEGER PRIMARY KEY, record TEXT NOT NULL, events TEXT NOT NULL, executed BLOB NOT NULL
  ) STRICT;
`;

/** Epochs of Walrus, as far as they are kept. */
export interface EpochSource {
  /** The present epoch. */
  readonly epoch: number;
  /** Goes to a later epoch. */
  setEpoch(epoch: number): void;
}

/** JSON with bytes and big integers, each as an object of one member. */
function encode(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (typeof each === "bigint") return { $big: String(each) };
    return each instanceof Uint8Array ? { $bytes: each.toBase64() } : each;
  });
}

function decode<T>(text: unknown): T {
  // Written by `encode` of the same layout.
  return JSON.parse(String(text), (_, each: unknown) => {
    if (typeof each !== "object" || each === null) return each;
    if ("$big" in each) return BigInt(String(each.$big));
    return "$bytes" in each ? Uint8Array.fromBase64(String(each.$bytes)) : each;
  }) as T;
}

/**
 * Keeps a chain in a file, so that a devnet continues where it stopped. What transactions wrote is
 * restored before the devnet is set up anew; ids follow from the seed, so both parts fit.
 */
export class ChainFile {
  readonly #chain: Chain;
  readonly #database: DatabaseSync;
  #epochs: EpochSource | undefined;

  /** Opens the file of a folder and restores the chain. Throws TypeError for another chain's. */
  constructor(folder: string, chain: Chain) {
    Deno.mkdirSync(folder, { recursive: true });
    this.#chain = chain;
    this.#database = new DatabaseSync(`${folder}/chain.sqlite`);
    this.#database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
    this.#database.exec(SCHEMA);
    try {
      this.#restore();
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  #meta(name: string): string | undefined {
    const row = this.#database.prepare("SELECT value FROM meta WHERE name = ?").get(name);
    return row === undefined ? undefined : String(row.value);
  }

  #setMeta(name: string, value: string | number | bigint): void {
    this.#database.prepare("INSERT OR REPLACE INTO meta VALUES (?, ?)").run(name, String(value));
  }

  #restore(): void {
    const chain = this.#chain;
    const [layout, chainId] = [this.#meta("layout"), this.#meta("chain")];
    if (layout !== undefined && (layout !== String(LAYOUT) || chainId !== chain.chainId)) {
      throw new TypeError("the folder belongs to a devnet of another seed or version");
    }
    this.#setMeta("layout", LAYOUT);
    this.#setMeta("chain", chain.chainId);
    for (const { object } of this.#database.prepare("SELECT object FROM objects").all()) {
      chain.objects.set(decode<ChainObject>(object));
    }
    const rows = this.#database.prepare("SELECT * FROM transactions ORDER BY number").all();
    for (const row of rows) {
      const executed = GrpcTypes.ExecutedTransaction.fromBinary(row.executed as Uint8Array);
      const events = decode<ChainEvent[]>(row.events);
      chain.ledger.restore(decode<TransactionRecord>(row.record), events, executed);
      for (const { objectId = "" } of executed.effects?.changedObjects ?? []) {
        chain.restored.add(objectId);
      }
    }
    chain.epoch = BigInt(this.#meta("epoch") ?? chain.epoch);
    chain.clock.advance(Number(this.#meta("ahead") ?? 0));
    reinstallPublished(chain);
  }

  /** Continues after what was restored, and writes from now on. To be called when all is set up. */
  follow(epochs: EpochSource): void {
    this.#epochs = epochs;
    epochs.setEpoch(Math.max(epochs.epoch, Number(this.#meta("walrus epoch") ?? 0)));
    this.#chain.ids.skipTo(Number(this.#meta("ids") ?? 0));
    this.#chain.ledger.watch((record, events) => this.#write(record, events));
  }

  #writeProgress(): void {
    this.#setMeta("epoch", this.#chain.epoch);
    this.#setMeta("ahead", this.#chain.clock.ahead);
    this.#setMeta("ids", this.#chain.ids.drawn);
    if (this.#epochs !== undefined) this.#setMeta("walrus epoch", this.#epochs.epoch);
  }

  #write(record: TransactionRecord, events: readonly ChainEvent[]): void {
    const executed = this.#chain.ledger.transactions.get(record.digest);
    if (executed === undefined) return;
    this.#database.exec("BEGIN");
    try {
      for (const { objectId = "" } of executed.effects?.changedObjects ?? []) {
        const object = this.#chain.objects.get(objectId);
        if (object === undefined) {
          this.#database.prepare("DELETE FROM objects WHERE id = ?").run(objectId);
        } else {
          this.#database.prepare("INSERT OR REPLACE INTO objects VALUES (?, ?)")
            .run(objectId, encode(object));
        }
      }
      this.#database.prepare("INSERT INTO transactions VALUES (?, ?, ?, ?)").run(
        record.checkpoint,
        encode(record),
        encode(events),
        GrpcTypes.ExecutedTransaction.toBinary(executed),
      );
      this.#writeProgress();
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  /** Writes what no transaction has written, and closes the file. */
  close(): void {
    this.#writeProgress();
    this.#database.close();
  }
}
