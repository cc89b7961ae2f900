import { SvcError } from "../../src/errors.ts";
import type { IndexEntry, ScanPage, Scope, VectorStore } from "../../src/interfaces/mod.ts";
import type { Sealer } from "../../src/interfaces/plugin.ts";
import { type Database, fromColumn, toColumn } from "../../src/storage/sqlite/database.ts";
import { openIndex } from "./index_file.ts";
import { IndexRows } from "./index_rows.ts";
import { IndexSeals } from "./index_seals.ts";
import { Packer } from "./packer.ts";
import { free } from "../shared/rows/free.ts";
import { type Candidate, matchOf, nearestWith } from "../shared/rows/nearest.ts";
import { Segment } from "../shared/rows/segment.ts";
import { requireEmbedder, requireLength, scopeCounts } from "../shared/rows/index_file.ts";

/** Settings of {@linkcode localVectorStore}. */
export interface LocalVectorStoreOptions {
  /** Folder of `index.db`. */
  readonly dataDir: string;
  /** Encryption of everything but owners, namespaces, ids, versions, sizes and times of scopes. */
  readonly sealer: Sealer;
  /** Length of every vector. */
  readonly dimensions: number;
  /** Name of the embedding model. */
  readonly model: string;
  /** Memories packed together, 2 to 256; 128 when absent. */
  readonly segmentSize?: number;
}

/**
 * Index rows in one SQLite file, `index.db`. New memories are single sealed rows; 128 of a scope are
 * packed into one sealed segment, so that a scope is read and opened in large pieces. Search is
 * exact: it reads the whole scope.
 *
 * The file is disposable: without it the store starts empty, and a restore fills it again.
 *
 * @throws {SvcError} `storage_unavailable`, not retryable, when the file is damaged or was sealed
 * under another relayer key; `invalid_parameter` without the embedder's length and model.
 */
export function localVectorStore(options: LocalVectorStoreOptions): VectorStore {
  requireEmbedder(options);
  return new LocalVectorStore(options);
}

/** A piece of a scope, opened at once. */
interface Page {
  readonly segments: readonly Segment[];
  /** Memories of the page, where its segments hold others, too. */
  readonly ids?: ReadonlySet<string>;
  readonly cursor?: string;
  /** What the segments were read from, where it is large. */
  readonly packed?: Uint8Array;
}

/** Last segment that was read, and behind a point the number of the last memory that is in none. */
const CURSOR = /^(\d{1,15})(?:\.(\d{1,15}))?$/;
/** Single rows opened at once, for a few milliseconds. */
const LOOSE_ROWS = 128;

/** A sealed row or segment, and the number of the model whose vectors it holds. */
interface SealedRow {
  readonly sealed: Uint8Array;
  readonly model: number;
}

interface GetRow {
  readonly id: Uint8Array;
  readonly version: number;
  readonly namespace: Uint8Array;
  readonly segment: number | null;
  readonly blob: Uint8Array | null;
  /** Absent where the memory is in a segment. */
  readonly sealed: Uint8Array | null;
  readonly model: number | null;
}

const SELECT = `select e.id, e.version, s.namespace, e.segment, e.blob, t.sealed, t.model
  from entry e join scope s on s.id = e.scope left join tail t on t.seq = e.seq
  where e.id = ? and s.owner = ?`;

/** Ids looked up at once: at most so many segments are in memory. */
const GET_CHUNK = 64;

class LocalVectorStore implements VectorStore {
  readonly #database: Database;
  readonly #rows: IndexRows;
  readonly #seals: IndexSeals;
  readonly #packer: Packer;
  readonly #dimensions: number;
  readonly #segmentSize: number;

  constructor({ dataDir, sealer, dimensions, model, segmentSize = 128 }: LocalVectorStoreOptions) {
    this.#dimensions = dimensions;
    this.#segmentSize = segmentSize;
    const index = openIndex(dataDir, { dimensions, model }, sealer);
    this.#database = index.database;
    this.#seals = new IndexSeals(sealer, index.model);
    const packing = { dimensions, model: index.model, segmentSize };
    this.#rows = new IndexRows(this.#database, this.#seals, packing);
    this.#packer = new Packer(this.#database, this.#seals, packing);
  }

  async upsert(...[entries, options]: Parameters<VectorStore["upsert"]>): Promise<void> {
    this.#database.check(options?.signal);
    const sealed = entries.map((entry) => this.#rows.seal(entry));
    if (sealed.length === 0) return;
    const written = await this.#database.write(() => this.#rows.upsert(sealed), options?.signal);
    for (const [scopeId, scope] of written) this.#packer.note(scopeId, scope, sealed.length);
  }

  async link(...[scope, links, options]: Parameters<VectorStore["link"]>): Promise<void> {
    const recorded = links.map((link) => ({ ...link }));
    const write = () => this.#rows.link(scope, recorded);
    const linked = await this.#database.write(write, options?.signal);
    if (linked === undefined) return;
    this.#packer.note(linked.scopeId, scope, recorded.length);
    this.#packer.noteLinks(linked.beside);
  }

  async delete(...[scope, ids, options]: Parameters<VectorStore["delete"]>): Promise<void> {
    const gone = [...ids];
    const write = () => this.#rows.remove(scope, gone);
    const scopeId = await this.#database.write(write, options?.signal);
    // A segment that is nearly empty becomes single rows again.
    if (scopeId !== undefined) this.#packer.note(scopeId, scope, Infinity);
  }

  async search(...[query, options]: Parameters<VectorStore["search"]>) {
    requireLength(query.vector, this.#dimensions);
    let nearest: readonly Candidate[] = [];
    let cursor: string | undefined;
    do {
      const page: Page = await this.#page(query, cursor, options?.signal);
      for (const segment of page.segments) nearest = nearestWith(nearest, segment, query);
      if (page.packed !== undefined) free(page.packed);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return nearest.map(matchOf);
  }

  async get(...[owner, ids, options]: Parameters<VectorStore["get"]>): Promise<IndexEntry[]> {
    const wanted = [...new Set(ids)];
    const found: IndexEntry[] = [];
    for (let at = 0; at === 0 || at < wanted.length; at += GET_CHUNK) {
      this.#database.check(options?.signal);
      found.push(...await this.#getChunk(owner, wanted.slice(at, at + GET_CHUNK)));
    }
    options?.signal?.throwIfAborted();
    return found;
  }

  async scan(...[scope, cursor, options]: Parameters<VectorStore["scan"]>): Promise<ScanPage> {
    const page = await this.#page(scope, cursor, options?.signal);
    const { ids, cursor: next, packed } = page;
    const all = page.segments.flatMap((segment) => segment.entries());
    const entries = ids === undefined ? all : all.filter(({ id }) => ids.has(id));
    return {
      entries,
      ...(next === undefined ? {} : { cursor: next }),
      ...(packed === undefined ? {} : { release: () => free(packed) }),
    };
  }

  async scopes(...[owner, options]: Parameters<VectorStore["scopes"]>) {
    await Promise.resolve();
    this.#database.check(options?.signal);
    return scopeCounts(this.#database, owner);
  }

  async outdated(...[options]: Parameters<NonNullable<VectorStore["outdated"]>>) {
    await Promise.resolve();
    this.#database.check(options?.signal);
    return this.#rows.outdated();
  }

  async scrub(): Promise<void> {
    await this.#database.scrub();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#packer.stop();
    await this.#database.close();
  }

  /** The segment after a cursor, or memories in no segment once there is none. */
  async #page(scope: Scope, cursor: string | undefined, signal?: AbortSignal): Promise<Page> {
    this.#database.check(signal);
    const [, last, after] = CURSOR.exec(cursor ?? "0") ?? [];
    if (last === undefined) throw new SvcError("invalid_cursor");
    const scopeId = this.#rows.scopeId(scope);
    if (scopeId === undefined) return { segments: [] };
    if (after !== undefined) {
      return await this.#loosePage(scopeId, scope, Number(last), Number(after), signal);
    }
    const next =
      "select seq, sealed, model from segment where scope = ? and seq > ? order by seq limit 1";
    const row = this.#database.get<SealedRow & { seq: number }>(next, scopeId, Number(last));
    if (row === undefined) return await this.#loosePage(scopeId, scope, Number(last), 0, signal);
    const links = this.#rows.links(row.seq, scope);
    const anyMore = `select 1 where exists(select 1 from segment where scope = ?1 and seq > ?2)
       or exists(select 1 from entry where scope = ?1 and segment is null)`;
    const more = this.#database.get(anyMore, scopeId, row.seq);
    const packed = await this.#seals.openSegmentLater(row.seq, scope, row.sealed);
    free(row.sealed);
    signal?.throwIfAborted();
    const segments = [new Segment(scope, packed, links, this.#seals.isOutdated(row.model))];
    return { segments, packed, ...(more === undefined ? {} : { cursor: String(row.seq) }) };
  }

  /**
   * Memories, behind a number, that were in no segment when the last segment was read. Those that
   * were packed meanwhile are read out of their segments.
   */
  async #loosePage(
    scopeId: number,
    scope: Scope,
    last: number,
    after: number,
    signal?: AbortSignal,
  ): Promise<Page> {
    const rows = this.#rows.loose(scopeId, last, after, LOOSE_ROWS);
    const isFull = rows.length === LOOSE_ROWS;
    // A process that was killed left these, and nobody may ever write there again.
    if (after === 0 && rows.length >= Math.min(LOOSE_ROWS, 2 * this.#segmentSize)) {
      this.#packer.note(scopeId, scope, Infinity);
    }
    const segments = rows.flatMap((row) => this.#rows.single(scope, row) ?? []);
    const segmentNumbers = new Set(rows.flatMap(({ segment }) => segment ?? []));
    // Everything is read before the first await, so that all of it is from one moment.
    const sealed = Array.from(
      segmentNumbers,
      (seq) => ({ seq, links: this.#rows.links(seq, scope), ...this.#sealedSegment(seq) }),
    );
    for (const { seq, links, sealed: bytes, model } of sealed) {
      const opened = await this.#seals.openSegmentLater(seq, scope, bytes);
      segments.push(new Segment(scope, opened, links, this.#seals.isOutdated(model)));
    }
    signal?.throwIfAborted();
    return {
      segments,
      ...(segmentNumbers.size === 0 ? {} : { ids: new Set(rows.map(({ id }) => fromColumn(id))) }),
      ...(isFull ? { cursor: `${last}.${rows.at(-1)!.seq}` } : {}),
    };
  }

  #sealedSegment(seq: number): SealedRow {
    return this.#database.get("select sealed, model from segment where seq = ?", seq)!;
  }

  async #getChunk(owner: string, ids: readonly string[]): Promise<IndexEntry[]> {
    const whose = toColumn(owner);
    const rows = ids.flatMap((id) => this.#database.all<GetRow>(SELECT, toColumn(id), whose));
    // Everything is read before the first await, so that all of it is from one moment.
    const sealed = new Map<number, SealedRow>();
    for (const { segment } of rows) {
      if (segment === null || sealed.has(segment)) continue;
      sealed.set(segment, this.#sealedSegment(segment));
    }
    const opened = new Map<number, Segment>();
    const found: IndexEntry[] = [];
    for (const row of rows) {
      const scope = { owner, namespace: fromColumn(row.namespace) };
      const id = fromColumn(row.id);
      if (row.segment === null) {
        const { version, blob: link, sealed, model } = row;
        const single = { scope, id, version, sealed: sealed!, link };
        found.push(this.#seals.openSingle(single, model!).entry(0));
        continue;
      }
      let segment = opened.get(row.segment);
      if (segment === undefined) {
        const held = sealed.get(row.segment)!;
        const packed = await this.#seals.openSegmentLater(row.segment, scope, held.sealed);
        segment = new Segment(scope, packed, undefined, this.#seals.isOutdated(held.model));
        opened.set(row.segment, segment);
      }
      const entry = segment.copy(segment.indexOf(id));
      const blobId = row.blob === null
        ? entry.blobId
        : this.#seals.openLink(scope, id, row.version, row.blob);
      found.push(blobId === undefined ? entry : { ...entry, blobId });
    }
    return found;
  }
}
