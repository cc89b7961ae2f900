import { SvcError } from "../../src/errors.ts";
import type {
  IndexEntry,
  ScanPage,
  VectorMatch,
  VectorQuery,
  VectorStore,
} from "../../src/interfaces/mod.ts";
import type { Sealer } from "../../src/interfaces/plugin.ts";
import type { Database } from "../../src/storage/sqlite/database.ts";
import { Catalog, parseCursor, type Place, type ScopeRow } from "./catalog.ts";
import { openCatalog, REMEDY } from "./catalog_file.ts";
import { FlushLog } from "./flush_log.ts";
import { Flusher, type FlushPolicy } from "./flusher.ts";
import { loadLibrary } from "./library.ts";
import { Packing } from "./packing.ts";
import { WindowsTable } from "./windows_table.ts";
import { requireEmbedder, requireLength, scopeCounts } from "../shared/rows/index_file.ts";

/** Settings of {@linkcode lancedbVectorStore}. */
export interface LancedbOptions {
  /** Folder of the relayer's files; the store is in `lancedb` there. */
  readonly dataDir: string;
  /** Encryption of everything but vectors, owners, namespaces, ids, versions, sizes and times. */
  readonly sealer: Sealer;
  /** Length of every vector. */
  readonly dimensions: number;
  /** Name of the embedding model. */
  readonly model: string;
  /** When memories go into the table. */
  readonly flush?: Partial<FlushPolicy>;
  /** Told of failures in the background. */
  readonly log?: (message: string) => void;
}

const POLICY: FlushPolicy = { rows: 64, quietMs: 1000, commits: 8, vectorIndexRows: 250_000 };
const PAGE = 500;
/** Candidates beyond the limit, so that the table's rounding cuts off none that is as near. */
const SPARE = 8;
/** Largest difference between the table's distances and ours. */
const ROUNDING = 1e-5;

/**
 * Index rows in a LanceDB table, behind a catalogue in SQLite: a write is durable, unique and
 * visible in the catalogue at once, and goes into the table with others. Vectors are in the clear
 * in the table. Search is exact, but in scopes so large that a vector index pays.
 *
 * @throws {SvcError} `storage_unavailable`, not retryable, when the store is damaged, holds vectors
 * of another model or was sealed under another relayer key; `invalid_parameter` without the
 * embedder's length and model.
 */
export async function lancedbVectorStore(options: LancedbOptions): Promise<VectorStore> {
  requireEmbedder(options);
  const { dimensions, model, sealer } = options;
  const folder = `${options.dataDir}/lancedb`;
  const database = openCatalog(folder, { dimensions, model }, sealer);
  const stack = new AsyncDisposableStack();
  stack.defer(() => database.close());
  try {
    const table = await WindowsTable.open(await loadLibrary(), folder, dimensions);
    stack.defer(() => table.close());
    const packing = new Packing(sealer, dimensions);
    const log = new FlushLog(database);
    const policy = { ...POLICY, ...options.flush };
    const mayWrite = () => whileNotCopied(folder);
    const failed = (state: string, error: unknown): void =>
      options.log?.(`LanceDB: ${state} (${SvcError.from(error).code})`);
    const flusher = stack.use(new Flusher(log, { table, mayWrite }, packing, policy, failed));
    {
      using _turn = await mayWrite();
      await flusher.recover();
      await checkRows(log, table);
    }
    flusher.notify();
    const { vectorIndexRows } = policy;
    const parts = { database, table, packing, flusher, dimensions, vectorIndexRows };
    return new LancedbVectorStore(parts, stack);
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/** Waits while a backup copies the folder: table and catalogue would not be of the same moment. */
async function whileNotCopied(folder: string): Promise<Disposable> {
  const file = await Deno.open(`${folder}/backup.lock`, { create: true, write: true, mode: 0o600 });
  await file.lock(false);
  return file;
}

/** Refuses a table that was lost, replaced or rolled back and lacks memories. */
async function checkRows(log: FlushLog, table: WindowsTable): Promise<void> {
  const gone = log.gone(Number.MAX_SAFE_INTEGER);
  if (gone.length > 0) {
    // A process may have ended between the deletion and its note.
    await table.remove(gone);
    await log.deleted(gone);
  }
  const [found, wanted] = [await table.count(), log.expectedRows()];
  if (found === wanted) return;
  throw new SvcError(
    "storage_unavailable",
    `The LanceDB table has ${found} rows instead of ${wanted}: ${REMEDY}`,
    { retryable: false },
  );
}

interface Parts {
  readonly database: Database;
  readonly table: WindowsTable;
  readonly packing: Packing;
  readonly flusher: Flusher;
  readonly dimensions: number;
  readonly vectorIndexRows: number;
}

class LancedbVectorStore implements VectorStore {
  readonly #parts: Parts;
  readonly #catalog: Catalog;
  readonly #stack: AsyncDisposableStack;

  constructor(parts: Parts, stack: AsyncDisposableStack) {
    this.#parts = parts;
    this.#catalog = new Catalog(parts.database, parts.packing);
    this.#stack = stack;
  }

  async upsert(...[entries, options]: Parameters<VectorStore["upsert"]>): Promise<void> {
    await this.#catalog.upsert(entries, options?.signal);
    if (entries.length > 0) this.#parts.flusher.notify();
  }

  async link(...[scope, links, options]: Parameters<VectorStore["link"]>): Promise<void> {
    await this.#catalog.link(scope, links, options?.signal);
  }

  async delete(...[scope, ids, options]: Parameters<VectorStore["delete"]>): Promise<void> {
    await this.#catalog.remove(scope, ids, options?.signal);
    if (ids.length > 0) this.#parts.flusher.notify();
  }

  async search(...[query, options]: Parameters<VectorStore["search"]>): Promise<VectorMatch[]> {
    this.#parts.database.check(options?.signal);
    requireLength(query.vector, this.#parts.dimensions);
    const scope = this.#catalog.scope(query);
    if (scope === undefined) return [];
    const candidates = await this.#candidates(scope, query);
    options?.signal?.throwIfAborted();
    const found = await this.#entries(candidates);
    options?.signal?.throwIfAborted();
    return found
      // Some may have been replaced by a version without vectors.
      .filter(({ vectors }) => vectors.length > 0)
      .map((entry) => ({ entry, distance: distanceOf(entry, query.vector) }))
      .sort((a, b) => a.distance - b.distance || (a.entry.id < b.entry.id ? -1 : 1))
      .slice(0, query.limit);
  }

  async get(...[owner, ids, options]: Parameters<VectorStore["get"]>): Promise<IndexEntry[]> {
    this.#parts.database.check(options?.signal);
    const found = await this.#entries(this.#catalog.find(owner, [...new Set(ids)]));
    options?.signal?.throwIfAborted();
    return found;
  }

  async scan(...[scope, cursor, options]: Parameters<VectorStore["scan"]>): Promise<ScanPage> {
    this.#parts.database.check(options?.signal);
    const after = parseCursor(cursor);
    const row = this.#catalog.scope(scope);
    if (row === undefined) return { entries: [] };
    const places = this.#catalog.page(row.id, after, PAGE + 1);
    const entries = await this.#entries(places.slice(0, PAGE));
    options?.signal?.throwIfAborted();
    return places.length > PAGE ? { entries, cursor: `${places[PAGE - 1]!.seq}` } : { entries };
  }

  async scopes(...[owner, options]: Parameters<VectorStore["scopes"]>) {
    await Promise.resolve();
    this.#parts.database.check(options?.signal);
    return scopeCounts(this.#parts.database, owner);
  }

  async scrub(): Promise<void> {
    await this.#parts.flusher.scrub();
    await this.#parts.database.scrub();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  /**
   * Memories that may belong to the answer, as the catalogue has them at one moment: the nearest of
   * the table, and all that may have come after the table was read.
   */
  async #candidates(scope: ScopeRow, query: VectorQuery): Promise<Place[]> {
    const { limit, vector } = query;
    const approximate = this.#parts.vectorIndexRows > 0 &&
      scope.flushed >= this.#parts.vectorIndexRows;
    const carried = this.#catalog.lastCarried(scope.id);
    for (let rows = limit + SPARE;; rows *= 4) {
      const asked = { scope: scope.id, vector, limit: rows, approximate };
      const found = await this.#parts.table.nearest(asked);
      const distances = new Map<number, number>();
      for (const { seq, distance } of found) {
        if (!distances.has(seq)) distances.set(seq, distance);
      }
      const live = this.#catalog.live([...distances.keys()]);
      const edge = distances.get(live[limit - 1]?.seq ?? -1);
      const complete = found.length < rows ||
        edge !== undefined && found.at(-1)!.distance > edge + ROUNDING;
      if (complete) {
        const near = live.filter(({ seq }) =>
          seq <= carried && distances.get(seq)! <= (edge ?? Infinity) + ROUNDING
        );
        // There must be no await since `live`: a memory replaced in between would be in neither.
        return [...near, ...this.#catalog.withVectors(scope.id, carried)];
      }
    }
  }

  /** The memories of places, in their order. */
  async #entries(places: readonly Place[]): Promise<IndexEntry[]> {
    const stored = places.filter(({ waiting }) => waiting === null).map(({ seq }) => seq);
    const rows = stored.length === 0 ? new Map() : await this.#parts.table.fetch(stored);
    const found = await Promise.all(places.map(async (place) => {
      if (place.waiting !== null) {
        return [this.#parts.packing.openWhole({ ...place, sealed: place.waiting })];
      }
      const row = rows.get(place.seq);
      if (row === undefined) return await this.#again(place);
      return [this.#parts.packing.openRest({ ...place, sealed: row.sealed }, row.vectors)];
    }));
    return found.flat();
  }

  /** Reads a memory again whose rows have left the table since, because it was replaced or removed. */
  async #again({ id, scope, seq }: Place): Promise<IndexEntry[]> {
    const now = this.#catalog.find(scope.owner, [id])
      .filter((place) => place.scope.namespace === scope.namespace);
    if (now.some((place) => place.seq === seq)) {
      throw new SvcError("storage_unavailable", `The LanceDB table lacks a row: ${REMEDY}`);
    }
    return await this.#entries(now);
  }
}

/** Cosine distance of the closest window: 0 to 2. */
function distanceOf({ vectors }: IndexEntry, query: Float32Array): number {
  let best = -Infinity;
  for (const vector of vectors) {
    let sum = 0;
    for (let i = 0; i < query.length; i++) sum += vector[i]! * query[i]!;
    best = Math.max(best, sum);
  }
  // Rounding can leave the range by a hair.
  return Math.min(2, Math.max(0, 1 - best));
}
