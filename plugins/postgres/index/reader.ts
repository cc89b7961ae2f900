import { SvcError } from "../../../src/errors.ts";
import type { IndexEntry, Scope } from "../../../src/interfaces/mod.ts";
import { fromColumn, toColumn } from "../../../src/storage/sqlite/database.ts";
import type { Segment } from "../../shared/rows/segment.ts";
import type { PostgresDatabase } from "../database.ts";
import { type LinkRow, linksOf } from "./rows.ts";
import type { SealedSegment, Seals } from "./seals.ts";

/** A piece of a scope, opened at once. */
export interface Page {
  readonly segments: readonly Segment[];
  /** Places of the page's memories, where its segments hold others, too. */
  readonly order?: ReadonlyMap<string, number>;
  readonly cursor?: string;
  /** What the segments are views of, where nobody else has it. */
  readonly packed: readonly Uint8Array[];
  /** Whether there are so many single rows that they should be packed. */
  readonly isLoose: boolean;
}

/** Segments of a page, of a quarter of a megabyte each: a thousand memories are taken over at once. */
const PAGE_SEGMENTS = 8;
/** Single rows opened at once, for a few milliseconds. */
const LOOSE_ROWS = 256;
/** Ids looked up at once: at most so many segments are in memory. */
const GET_CHUNK = 64;

/** Place of the last segment that was read, and behind a point the number of the last single memory. */
const CURSOR = /^(\d{1,15})(?:\.(\d{1,15}))?$/;

/** A row of any of the statements below: a segment, or what is known of one memory. */
interface Row {
  /** Absent in rows of segments. */
  readonly id: Uint8Array | null;
  readonly version: number;
  readonly seq: number;
  readonly namespace: Uint8Array;
  readonly blob: Uint8Array | null;
  /** The segment itself, or the one that the memory is in. */
  readonly segment: number | null;
  readonly sealed: Uint8Array | null;
  readonly model: number;
}

/*
 * Each of them is one statement, so that what it answers is of one moment, also where memories are
 * packed meanwhile.
 */
const segmentsAfter = (scopeId: number, place: number) =>
  `with page as materialized (
    select id, place, model, sealed from svc.segment where scope = ${scopeId} and place > ${place}
    order by place limit ${PAGE_SEGMENTS})
  select id, place, model, sealed, null::bytea as memory, null::bigint as version,
    null::bytea as blob from page
  union all
  select e.segment, null, null, null, e.id, e.version, e.blob from svc.entry e
    where e.segment in (select id from page) and e.blob is not null`;
const SEGMENT_COLUMNS = {
  id: "bigint",
  place: "bigint",
  model: "integer",
  sealed: "bytea",
  memory: "bytea",
  version: "bigint",
  blob: "bytea",
} as const;
const LOOSE = `with single as (
    select * from svc.entry where scope = $1 and segment is null and seq > $3
    order by seq limit ${LOOSE_ROWS}),
  packed as (
    select * from svc.entry where scope = $1 and seq > $3
      and segment in (select id from svc.segment where scope = $1 and place > $2)
    order by seq limit ${LOOSE_ROWS}),
  page as materialized (
    select * from (select * from single union all select * from packed) as both_of_them
    order by seq limit ${LOOSE_ROWS})
  select id, version, seq, blob, segment, sealed, model from page
  union all
  select null, null, null, null, g.id, g.sealed, g.model from svc.segment g
    where g.id in (select segment from page)`;
const GET = `with found as materialized (
    select e.*, s.namespace from svc.scope s join svc.entry e on e.scope = s.id
    where s.owner = $1 and e.id = any($2::bytea[]))
  select id, version, namespace, blob, segment, sealed, model from found
  union all
  select null, null, null, null, g.id, g.sealed, g.model from svc.segment g
    where g.id in (select segment from found)`;

/** Rows of the segments among all rows. */
function segmentsOf(rows: readonly Row[]): SealedSegment[] {
  return rows.filter(({ id }) => id === null).map(({ segment, model, sealed }) => ({
    id: segment!,
    model,
    sealed: sealed!,
  }));
}

/** Reads rows of the index. */
export class Reader {
  readonly #database: PostgresDatabase;
  readonly #seals: Seals;

  constructor(database: PostgresDatabase, seals: Seals) {
    this.#database = database;
    this.#seals = seals;
  }

  /**
   * The page of a scope after a cursor: segments, and memories in no segment behind the last one.
   *
   * @throws {SvcError} `invalid_cursor`; `storage_unavailable`.
   */
  async page(scopeId: number, scope: Scope, cursor: string | undefined): Promise<Page> {
    const [, last, after] = CURSOR.exec(cursor ?? "0") ?? [];
    if (last === undefined) throw new SvcError("invalid_cursor");
    if (after !== undefined) return await this.#loose(scopeId, scope, Number(last), Number(after));
    const found = await this.#segments(scopeId, scope, Number(last));
    const end = found.at(-1)?.place;
    if (end === undefined) return await this.#loose(scopeId, scope, Number(last), 0);
    return {
      segments: found.map(({ segment }) => segment),
      packed: found.map(({ packed }) => packed),
      cursor: String(end),
      isLoose: false,
    };
  }

  /** The segments after a place. Each is opened, on the thread pool, while the next one arrives. */
  async #segments(scopeId: number, scope: Scope, after: number) {
    const opening: { place: number; model: number; id: number; packed: Promise<Uint8Array> }[] = [];
    const links = new Map<number, LinkRow[]>();
    const sql = segmentsAfter(scopeId, after);
    try {
      await this.#database.copy(sql, SEGMENT_COLUMNS, (row) => {
        const id = row.id!;
        if (row.memory !== null) {
          // Copies: the driver uses the bytes again.
          const [memory, blob] = [row.memory.slice(), row.blob!.slice()];
          const link = { id: memory, version: row.version!, blob };
          links.getOrInsertComputed(id, () => []).push(link);
          return;
        }
        const packed = this.#seals.openPacked(scope, id, row.sealed!);
        // It may fail before it is awaited, which reports the failure.
        packed.catch(() => {});
        opening.push({ id, place: row.place!, model: row.model!, packed });
      });
    } finally {
      // Whatever fails, nothing is being opened when this returns.
      await Promise.allSettled(opening.map(({ packed }) => packed));
    }
    opening.sort((a, b) => a.place - b.place);
    return await Promise.all(opening.map(async ({ id, place, model, packed }) => {
      const own = linksOf(this.#seals, scope, links.get(id) ?? []);
      const bytes = await packed;
      return { place, packed: bytes, segment: this.#seals.segmentOf(scope, bytes, model, own) };
    }));
  }

  /**
   * Memories, behind a number, that were in no segment when the last segment was read. Those that
   * were packed meanwhile are read out of their segments.
   */
  async #loose(scopeId: number, scope: Scope, last: number, after: number): Promise<Page> {
    const rows = await this.#database.all<Row>(LOOSE, scopeId, last, after);
    const memories = rows.filter(({ id }) => id !== null).sort((a, b) => a.seq - b.seq);
    const segments: Segment[] = [];
    const packed: Row[] = [];
    for (const row of memories) {
      if (row.segment === null) segments.push(this.#single(scope, row));
      else packed.push(row);
    }
    const blobs = packed.flatMap(({ id, version, blob }) =>
      blob === null ? [] : [{ id: id!, version, blob }]
    );
    const links = linksOf(this.#seals, scope, blobs);
    for (const row of segmentsOf(rows)) {
      segments.push(await this.#seals.openSegment(scope, row, links));
    }
    const isFull = memories.length === LOOSE_ROWS;
    return {
      segments,
      packed: [],
      isLoose: isFull && after === 0,
      ...(packed.length === 0
        ? {}
        : { order: new Map(memories.map(({ id }, place) => [fromColumn(id!), place])) }),
      ...(isFull ? { cursor: `${last}.${memories.at(-1)!.seq}` } : {}),
    };
  }

  /** The owner's memories with these ids, in whatever namespace. */
  async get(owner: string, ids: readonly string[]): Promise<IndexEntry[]> {
    const found: IndexEntry[] = [];
    for (let at = 0; at < ids.length; at += GET_CHUNK) {
      const wanted = ids.slice(at, at + GET_CHUNK).map(toColumn);
      const rows = await this.#database.all<Row>(GET, toColumn(owner), wanted);
      found.push(...await this.#entries(owner, rows));
    }
    return found;
  }

  async #entries(owner: string, rows: readonly Row[]): Promise<IndexEntry[]> {
    const sealed = new Map(segmentsOf(rows).map((row) => [row.id, row]));
    const opened = new Map<number, Segment>();
    const found: IndexEntry[] = [];
    for (const row of rows) {
      if (row.id === null) continue;
      const scope = { owner, namespace: fromColumn(row.namespace) };
      if (row.segment === null) {
        found.push(this.#single(scope, row).entry(0));
        continue;
      }
      let segment = opened.get(row.segment);
      if (segment === undefined) {
        segment = await this.#seals.openSegment(scope, sealed.get(row.segment)!);
        opened.set(row.segment, segment);
      }
      const id = fromColumn(row.id);
      const entry = segment.copy(segment.indexOf(id));
      found.push(
        row.blob === null
          ? entry
          : { ...entry, blobId: this.#seals.openLink(scope, id, row.version, row.blob) },
      );
    }
    return found;
  }

  #single(scope: Scope, { id, version, sealed, blob, model }: Row): Segment {
    const row = { scope, id: fromColumn(id!), version, sealed: sealed!, link: blob };
    return this.#seals.openSingle(row, model);
  }
}
