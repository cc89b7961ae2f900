import { SvcError } from "../../src/errors.ts";
import { within } from "../../src/deadline.ts";
import type { Library } from "./library.ts";
import type { ArrowSchema, LanceConnection, LanceTable, Opaque } from "./library_api.ts";

const TABLE = "windows";

/** One window of a memory. */
export interface WindowRow {
  readonly seq: number;
  /** Position of the window, from 0. */
  readonly part: number;
  readonly scope: number;
  /** Unit length. */
  readonly vector: Float32Array;
  /** The memory without its vectors, sealed; empty but in part 0. */
  readonly sealed: Uint8Array;
}

/** A memory's rows, read. */
interface StoredRow {
  /** Its windows in order. */
  readonly vectors: readonly Float32Array[];
  /** The memory without its vectors, sealed. */
  readonly sealed: Uint8Array;
}

interface NearRow {
  readonly seq: number;
  /** Cosine distance, as the table computes it. */
  readonly distance: number;
}

interface NearQuery {
  readonly scope: number;
  /** Unit length. */
  readonly vector: Float32Array;
  readonly limit: number;
  /** Whether the vector index may be used, which is faster and misses some. */
  readonly approximate: boolean;
}

/** Most numbers in one filter. */
const FILTER = 500;
/** Rows of a table from which indices are faster than a scan. */
const INDEX_ROWS = 1000;
const ANN = "vector_idx";
/** Longest time of a read, milliseconds; older versions of the table have no readers. */
const READ_MS = 60_000;
/** How far the clock of the file system may lag behind the process's, milliseconds. */
const SLACK_MS = 2000;

/** Every failure of the database becomes `storage_unavailable`, with the original as its cause. */
async function guard<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new SvcError("storage_unavailable", undefined, { cause });
  }
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  const all: T[][] = [];
  for (let at = 0; at < items.length; at += size) all.push(items.slice(at, at + size));
  return all;
}

interface TableParts {
  readonly library: Library;
  readonly connection: LanceConnection;
  readonly table: LanceTable;
  readonly schema: ArrowSchema;
  readonly folder: string;
  readonly dimensions: number;
}

/** The LanceDB table with one row for each window of a memory. One caller at a time may write. */
export class WindowsTable {
  readonly #parts: TableParts;
  /** Whether every file is known to be on disk; an earlier process may have ended before. */
  #synced = false;
  readonly #reading = new Set<Promise<unknown>>();

  private constructor(parts: TableParts) {
    this.#parts = parts;
  }

  /** Opens the table in a folder, or makes it. */
  static async open(library: Library, folder: string, dimensions: number): Promise<WindowsTable> {
    const connection = await guard(library.lancedb.connect(folder));
    try {
      const schema = schemaOf(library, dimensions);
      const options = { mode: "create", existOk: true } as const;
      const table = await guard(connection.createEmptyTable(TABLE, schema, options));
      return new WindowsTable({ library, connection, table, schema, folder, dimensions });
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /** Adds rows; they are on disk once this resolves. */
  async append(rows: readonly WindowRow[]): Promise<void> {
    const { Table } = this.#parts.library.arrow;
    const batch = new Table(this.#parts.schema, [this.#batch(rows)]);
    await this.#change(() => this.#parts.table.add(batch));
  }

  async remove(seqs: readonly number[]): Promise<void> {
    await this.#change(async () => {
      for (const some of chunks(seqs, FILTER)) {
        await this.#parts.table.delete(`seq in (${some.join(",")})`);
      }
    });
  }

  /** Deletes the rows with numbers from `first` to `last`. */
  async removeRange(first: number, last: number): Promise<void> {
    await this.#change(() => this.#parts.table.delete(`seq >= ${first} and seq <= ${last}`));
  }

  async count(): Promise<number> {
    return await guard(this.#parts.table.countRows());
  }

  /** The rows of memories, by number. */
  async fetch(seqs: readonly number[]): Promise<Map<number, StoredRow>> {
    const parts = new Map<number, { vectors: Float32Array[]; sealed: Uint8Array }>();
    for (const some of chunks(seqs, FILTER)) {
      const query = this.#parts.table.query().where(`seq in (${some.join(",")})`);
      const found = await this.#read(query.toArrow());
      for (const { seq, part, vector, sealed } of found) {
        const number = Number(seq);
        const row = parts.get(number) ?? { vectors: [], sealed: new Uint8Array() };
        row.vectors[part] = Float32Array.from(vector);
        if (part === 0) row.sealed = Uint8Array.from(sealed);
        parts.set(number, row);
      }
    }
    return parts;
  }

  /** Rows of a scope near a vector, nearest first. */
  async nearest({ scope, vector, limit, approximate }: NearQuery): Promise<NearRow[]> {
    const query = this.#parts.table.vectorSearch(vector).distanceType("cosine")
      .where(`scope = ${scope}`).limit(limit).select(["seq", "_distance"]);
    const chosen = approximate ? query.refineFactor(10) : query.bypassVectorIndex();
    const found = await this.#read(chosen.toArrow());
    return Array.from(found, ({ seq, _distance }) => ({ seq: Number(seq), distance: _distance }));
  }

  /**
   * Merges small files, drops old versions and keeps the indices up to date. Only one process may
   * have the table open.
   */
  async optimize(): Promise<void> {
    const old = new Date(Date.now() - READ_MS);
    await this.#change(async () => {
      await this.#index();
      await this.#parts.table.optimize({ cleanupOlderThan: old });
    });
  }

  /** Makes the vector index, unless it is there. */
  async indexVectors(): Promise<void> {
    const { library: { lancedb }, table } = this.#parts;
    await this.#change(async () => {
      if ((await this.#indices()).has(ANN)) return;
      const config = lancedb.Index.hnswSq({ distanceType: "cosine" });
      await table.createIndex("vector", { config, name: ANN });
    });
  }

  /**
   * Writes every row anew and drops the files of before: those hold what was deleted, and are merged
   * by themselves only when much of them was. The vector index is dropped with them.
   */
  async rewrite(): Promise<void> {
    await this.#change(async () => {
      const { table } = this.#parts;
      const rows = await table.countRows();
      if (rows > 0) await table.update({ where: "true", valuesSql: { part: "part" } });
      await table.optimize();
      // Whoever reads an earlier version reads its files.
      await this.#readers();
      await table.optimize({ cleanupOlderThan: new Date(), deleteUnverified: true });
    });
  }

  /** Waits until the reads that have begun are over. */
  async #readers(): Promise<void> {
    await within(READ_MS, Promise.allSettled([...this.#reading]));
  }

  /** A read, while which no file is dropped. */
  async #read<T>(work: Promise<T>): Promise<T> {
    const reading = guard(work);
    this.#reading.add(reading);
    try {
      return await reading;
    } finally {
      this.#reading.delete(reading);
    }
  }

  close(): void {
    this.#parts.table.close();
    this.#parts.connection.close();
  }

  async #indices(): Promise<ReadonlySet<string>> {
    return new Set((await this.#parts.table.listIndices()).map(({ name }) => name));
  }

  async #index(): Promise<void> {
    const { library: { lancedb: { Index } }, table } = this.#parts;
    if (await table.countRows() < INDEX_ROWS) return;
    const names = await this.#indices();
    if (!names.has("seq_idx")) await table.createIndex("seq", { config: Index.btree() });
    if (!names.has("scope_idx")) await table.createIndex("scope", { config: Index.bitmap() });
  }

  /**
   * Changes the table; its files are on disk once this resolves. Each version also needs files of
   * earlier ones, so after a change that failed all files are synced.
   */
  async #change(work: () => Promise<unknown>): Promise<void> {
    const since = this.#synced ? Date.now() : 0;
    this.#synced = false;
    await guard(work());
    await guard(syncFiles(`${this.#parts.folder}/${TABLE}.lance`, since));
    this.#synced = true;
  }

  /** Rows as columns; the library's own conversion of objects takes 20 times as long. */
  #batch(rows: readonly WindowRow[]): Opaque {
    const { Binary, Float32, Int32, Int64, makeData, RecordBatch, Struct } =
      this.#parts.library.arrow;
    const length = rows.length;
    const vectors = new Float32Array(length * this.#parts.dimensions);
    const offsets = new Int32Array(length + 1);
    rows.forEach((row, i) => {
      vectors.set(row.vector, i * this.#parts.dimensions);
      offsets[i + 1] = offsets[i]! + row.sealed.length;
    });
    const bytes = new Uint8Array(offsets[length]!);
    rows.forEach((row, i) => bytes.set(row.sealed, offsets[i]!));
    const child = makeData({ type: new Float32(), data: vectors });
    const list = this.#parts.schema.fields[3]!.type;
    const children = [
      makeData({ type: new Int64(), data: BigInt64Array.from(rows, ({ seq }) => BigInt(seq)) }),
      makeData({ type: new Int32(), data: Int32Array.from(rows, ({ part }) => part) }),
      makeData({ type: new Int32(), data: Int32Array.from(rows, ({ scope }) => scope) }),
      makeData({ type: list, length, nullCount: 0, child }),
      makeData({ type: new Binary(), length, nullCount: 0, valueOffsets: offsets, data: bytes }),
    ];
    const type = new Struct(this.#parts.schema.fields);
    return new RecordBatch(this.#parts.schema, makeData({ type, length, nullCount: 0, children }));
  }
}

function schemaOf({ arrow }: Library, dimensions: number): ArrowSchema {
  const { Binary, Field, FixedSizeList, Float32, Int32, Int64, Schema } = arrow;
  const item = new Field("item", new Float32(), true);
  return new Schema([
    new Field("seq", new Int64(), false),
    new Field("part", new Int32(), false),
    new Field("scope", new Int32(), false),
    new Field("vector", new FixedSizeList(dimensions, item), false),
    new Field("sealed", new Binary(), false),
  ]);
}

async function syncPath(path: string): Promise<void> {
  try {
    using file = await Deno.open(path);
    await file.syncData();
  } catch (error) {
    // A clean-up may have removed the file meanwhile.
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/**
 * Makes the files of a folder that changed since a time durable, and then the folders that name
 * them, because LanceDB itself fsyncs nothing.
 *
 * @param since Milliseconds since the epoch; 0: all files.
 */
async function syncFiles(folder: string, since: number): Promise<void> {
  for await (const item of Deno.readDir(folder)) {
    const path = `${folder}/${item.name}`;
    if (item.isDirectory) {
      await syncFiles(path, since);
      continue;
    }
    const info = await Deno.stat(path).catch(() => undefined);
    if (info !== undefined && (info.mtime?.getTime() ?? since) >= since - SLACK_MS) {
      await syncPath(path);
    }
  }
  // Windows cannot open folders.
  if (Deno.build.os !== "windows") await syncPath(folder);
}
