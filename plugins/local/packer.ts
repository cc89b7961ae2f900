import { Buffer } from "node:buffer";
import { setTimeout } from "node:timers/promises";
import { BoundedMap } from "../../src/bounded_map.ts";
import type { IndexEntry, Scope } from "../../src/interfaces/mod.ts";
import { SvcError } from "../../src/errors.ts";
import {
  type Database,
  fromColumn,
  type ScopeColumns,
  scopeOf,
} from "../../src/storage/sqlite/database.ts";
import type { Packing } from "./index_rows.ts";
import type { IndexSeals } from "./index_seals.ts";
import { Segment } from "../shared/rows/segment.ts";

/** Rows opened at a time, for less than a millisecond. */
const SLICE = 16;
/** Part of the event loop's time that packing may take. */
const SHARE = 0.2;
/** Segments' worth of single rows from which on packing takes half of the time. */
const FAR_BEHIND = 4;
/** Most scopes whose next check is remembered; others are checked at every write. */
const MAX_KNOWN = 10_000;
/** How often a scope that changes all the time is tried before it waits for its next write. */
const TRIES = 3;
/** Time after which a store that is closed begins no further step of packing, milliseconds. */
const CLOSING_MS = 1000;

interface Row {
  readonly seq: number;
  readonly id: Uint8Array;
  readonly version: number;
  readonly blob: Uint8Array | null;
}

interface LinkRow extends Row {
  readonly blob: Uint8Array;
}

/**
 * Moves single rows of scopes into segments, and the blob ids that wait beside a segment into it.
 * What takes long, opening and sealing, is done beside everything else and in pieces; a short
 * transaction puts the result in place if nothing of it has changed meanwhile.
 */
export class Packer {
  readonly #database: Database;
  readonly #seals: IndexSeals;
  readonly #packing: Packing;
  /** Scopes to look at, by row id. */
  readonly #waiting = new Map<number, Scope>();
  /** Fewest writes until a scope can have enough rows, by row id. */
  readonly #left = new BoundedMap<number, number>(MAX_KNOWN);
  /** Blob ids recorded beside segments since these were looked at. */
  #links = 0;
  /** Scopes with a row that cannot be opened: they are left as they are. */
  readonly #badScopes = new Set<number>();
  /** Segments that cannot be opened: they are left as they are. */
  readonly #badSegments = new Set<number>();
  /** When it ends, by the clock of `performance`. */
  #end = Infinity;
  #running: Promise<void> | undefined;

  constructor(database: Database, seals: IndexSeals, packing: Packing) {
    this.#database = database;
    this.#seals = seals;
    this.#packing = packing;
  }

  /** Notes that rows of a scope were written. */
  note(scopeId: number, scope: Scope, rows: number): void {
    if (this.#isClosing) return;
    const left = (this.#left.get(scopeId) ?? 0) - rows;
    this.#left.set(scopeId, left);
    if (left > 0) return;
    this.#waiting.set(scopeId, scope);
    this.#start();
  }

  /** Notes that so many blob ids were recorded of memories in segments. */
  noteLinks(count: number): void {
    this.#links += count;
    if (count > 0 && !this.#isClosing && this.#isMuch(this.#links)) this.#start();
  }

  /**
   * Ends once everything is packed, or soon: single rows are read as they are, but take four times as
   * long as packed ones.
   */
  async stop(): Promise<void> {
    this.#end = performance.now() + CLOSING_MS;
    while (this.#running !== undefined) await this.#running;
  }

  get #isClosing(): boolean {
    return this.#end < Infinity;
  }

  get #isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Whether opening so many links takes long beside opening a segment. */
  #isMuch(links: number): boolean {
    return links * 4 >= this.#packing.segmentSize;
  }

  #start(): void {
    // Nothing depends on it: what fails is tried again after another write.
    this.#running ??= this.#run().catch(() => {}).finally(() => {
      this.#running = undefined;
      if (this.#waiting.size > 0 && !this.#isOver) this.#start();
    });
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      if (this.#isMuch(this.#links)) {
        this.#links = 0;
        await this.#persist(() => this.#takeLinks());
      }
      const [next] = this.#waiting;
      if (next === undefined) return;
      const [scopeId, { owner, namespace }] = next;
      const scope = { owner, namespace };
      this.#waiting.delete(scopeId);
      if (this.#badScopes.has(scopeId)) continue;
      await this.#persist(() =>
        this.#pack(scopeId, scope).catch(passOver(this.#badScopes, scopeId))
      );
    }
  }

  /** Repeats work until none is left, or it failed too often. */
  async #persist(work: () => Promise<boolean | undefined>): Promise<void> {
    for (let failures = 0; failures < TRIES && !this.#isOver;) {
      const done = await work();
      if (done === undefined) return;
      if (!done) failures++;
    }
  }

  /** Packs the rows of one segment; `undefined` when there are too few. */
  async #pack(scopeId: number, scope: Scope): Promise<boolean | undefined> {
    const { dimensions } = this.#packing;
    const rows = this.#ripe(scopeId);
    if (rows === undefined) return undefined;
    const pause = this.#isFarBehind(scopeId) ? 1 : 1 / SHARE - 1;
    const entries: IndexEntry[] = [];
    for (let i = 0; i < rows.length; i += SLICE) {
      if (this.#isOver) return undefined;
      const start = performance.now();
      for (const row of rows.slice(i, i + SLICE)) {
        const sql = "select sealed, model from tail where seq = ?";
        const single = this.#database.get<{ sealed: Uint8Array; model: number }>(sql, row.seq);
        if (single === undefined) return false;
        const { version, blob: link } = row;
        const sealed = { scope, id: fromColumn(row.id), version, sealed: single.sealed, link };
        entries.push(this.#seals.openSingle(sealed, single.model).entry(0));
      }
      // A request takes many turns: work at every one of them would add up.
      if (!this.#isClosing) await setTimeout((performance.now() - start) * pause);
    }
    const seq = this.#nextSegment();
    const sealed = await this.#seals.sealSegmentLater(seq, scope, entries, dimensions);
    return await this.#database.write(() => this.#place(seq, scopeId, rows, sealed));
  }

  /**
   * The oldest rows of the present model that make a segment: those whose blob is known, as nothing
   * is to come for them; else any, when there are twice as many as needed. Those of another model
   * stay single: they are to be written anew.
   */
  #ripe(scopeId: number): Row[] | undefined {
    const { model, segmentSize } = this.#packing;
    const sql = `select e.seq, e.id, e.version, e.blob from entry e join tail t on t.seq = e.seq
       where e.scope = ? and e.segment is null and t.model = ? order by e.seq limit ?`;
    const rows = this.#database.all<Row>(sql, scopeId, model, 2 * segmentSize);
    const linked = rows.filter(({ blob }) => blob !== null);
    const wanted = linked.length >= segmentSize ? linked : rows;
    if (wanted === linked || rows.length >= 2 * segmentSize) return wanted.slice(0, segmentSize);
    this.#left.set(
      scopeId,
      Math.min(segmentSize - linked.length, 2 * segmentSize - rows.length),
    );
    return undefined;
  }

  /** Whether rows come faster than they are packed at the usual pace. */
  #isFarBehind(scopeId: number): boolean {
    const sql = "select 1 from entry where scope = ? and segment is null limit 1 offset ?";
    return this.#database.get(sql, scopeId, FAR_BEHIND * this.#packing.segmentSize) !== undefined;
  }

  #nextSegment(): number {
    const last = this.#database.get<{ seq: number }>(
      "select seq from sqlite_sequence where name = 'segment'",
    );
    return (last?.seq ?? 0) + 1;
  }

  /** Puts a segment in place of its rows; false when one of them changed. */
  #place(seq: number, scopeId: number, rows: readonly Row[], sealed: Uint8Array): boolean {
    if (seq !== this.#nextSegment()) return false;
    const seqs = JSON.stringify(rows.map((row) => row.seq));
    const select = `select seq, id, version, blob from entry
       where scope = ? and segment is null and seq in (select value from json_each(?))`;
    const now = this.#database.all<Row>(select, scopeId, seqs);
    const found = new Map(now.map((row) => [row.seq, row]));
    const relinked: Row[] = [];
    for (const row of rows) {
      const { id, version, blob } = found.get(row.seq) ?? {};
      if (version !== row.version || !same(id!, row.id)) return false;
      // What was recorded meanwhile is not in the segment.
      if (!same(blob!, row.blob)) relinked.push({ ...row, blob: blob! });
    }
    const { model } = this.#packing;
    this.#database.run("insert into segment values(?, ?, ?, ?)", seq, scopeId, sealed, model);
    const all = "where seq in (select value from json_each(?))";
    this.#database.run(`update entry set segment = ?, blob = null ${all}`, seq, seqs);
    this.#database.run(`delete from tail ${all}`, seqs);
    for (const { seq, blob } of relinked) {
      this.#database.run("update entry set blob = ? where seq = ?", blob, seq);
    }
    return true;
  }

  /** Writes one segment again with the blob ids recorded since; `undefined` when none has many. */
  async #takeLinks(): Promise<boolean | undefined> {
    const sql = `select segment as seq from entry where blob is not null and segment is not null
       group by segment having count(*) * 4 >= ?`;
    const many = this.#database.all<{ seq: number }>(sql, this.#packing.segmentSize);
    const next = many.find(({ seq }) => !this.#badSegments.has(seq));
    if (next === undefined) return undefined;
    return await this.#takeLinksOf(next.seq).catch(passOver(this.#badSegments, next.seq));
  }

  async #takeLinksOf(seq: number): Promise<boolean> {
    const segmentOf = `select g.sealed, s.owner, s.namespace
       from segment g join scope s on s.id = g.scope where g.seq = ?`;
    const row = this.#database.get<ScopeColumns & { sealed: Uint8Array }>(segmentOf, seq)!;
    const scope = scopeOf(row);
    const sql = "select seq, id, version, blob from entry where segment = ? and blob is not null";
    const links = this.#database.all<LinkRow>(sql, seq);
    const byId = new Map(links.map(({ id, version, blob }) => {
      const name = fromColumn(id);
      return [name, this.#seals.openLink(scope, name, version, blob)];
    }));
    const packed = await this.#seals.openSegmentLater(seq, scope, row.sealed);
    // Vectors of another model stay as they are.
    const segment = new Segment(scope, packed, byId);
    const { dimensions } = segment;
    const sealed = await this.#seals.sealSegmentLater(seq, scope, segment.entries(), dimensions);
    return await this.#database.write(() => {
      const sql = "select sealed from segment where seq = ?";
      const now = this.#database.get<{ sealed: Uint8Array }>(sql, seq);
      if (!same(now?.sealed ?? null, row.sealed)) return false;
      this.#database.run("update segment set sealed = ? where seq = ?", sealed, seq);
      for (const { seq, blob } of links) {
        this.#database.run("update entry set blob = null where seq = ? and blob = ?", seq, blob);
      }
      return true;
    });
  }
}

/** A handler of failures that notes what is damaged, so that it is not tried again. */
function passOver(bad: Set<number>, number: number): (error: unknown) => never {
  return (error) => {
    if (error instanceof SvcError && !error.retryable) bad.add(number);
    throw error;
  };
}

/** Sealed bytes begin with random ones: equal beginnings are equal bytes. */
function same(a: Uint8Array | null, b: Uint8Array | null): boolean {
  if (a === null || b === null) return a === b;
  return Buffer.compare(a.subarray(0, 64), b.subarray(0, 64)) === 0 && a.length === b.length;
}
