import { setTimeout } from "node:timers/promises";
import { BoundedMap } from "../../../src/bounded_map.ts";
import { SvcError } from "../../../src/errors.ts";
import type { IndexEntry } from "../../../src/interfaces/mod.ts";
import { fromColumn } from "../../../src/storage/sqlite/database.ts";
import type { PostgresDatabase } from "../database.ts";
import type { Statements } from "../statements.ts";
import type { Packing } from "./packing.ts";
import { type LinkRow, linksOf, type NumberedScope, takeScope } from "./rows.ts";
import type { SealedSegment, Seals } from "./seals.ts";

/** Rows opened at a time, for less than a millisecond. */
const SLICE = 16;
/** Part of the event loop's time that packing may take. */
const SHARE = 0.2;
/** Most scopes whose next look is remembered; others are looked at after every write. */
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
  readonly sealed: Uint8Array;
}

/** What a scope has got since it was looked at. */
interface Known {
  /** Fewest writes until it can have enough rows. */
  left: number;
  /** Blob ids recorded beside its segments. */
  links: number;
}

/**
 * Moves single rows of scopes into segments, and the blob ids that wait beside a segment into it.
 * What takes long, opening and sealing, is done beside everything else and in pieces; a short
 * transaction puts the result in place if nothing of it has changed meanwhile. Other relayers may try
 * the same: one of them is the first.
 */
export class Packer {
  readonly #database: PostgresDatabase;
  readonly #seals: Seals;
  readonly #packing: Packing;
  readonly #known = new BoundedMap<number, Known>(MAX_KNOWN);
  /** Scopes to look at, by number. */
  readonly #waiting = new Map<number, NumberedScope>();
  /** Scopes with something that cannot be opened: they are left as they are. */
  readonly #bad = new Set<number>();
  /** When it ends, by the clock of `performance`. */
  #end = Infinity;
  #running: Promise<void> | undefined;

  constructor(database: PostgresDatabase, seals: Seals, packing: Packing) {
    this.#database = database;
    this.#seals = seals;
    this.#packing = packing;
  }

  /** Notes that so many rows of a scope were written, and so many blob ids recorded beside segments. */
  note(numbered: NumberedScope, rows: number, links = 0): void {
    if (this.#end < Infinity || this.#bad.has(numbered.scopeId)) return;
    const known = this.#known.get(numbered.scopeId) ?? { left: 0, links: 0 };
    known.left -= rows;
    known.links += links;
    this.#known.set(numbered.scopeId, known);
    if (known.left > 0 && known.links * 4 < this.#packing.segmentSize) return;
    this.#waiting.set(numbered.scopeId, numbered);
    this.#start();
  }

  /** Ends once everything is packed, or soon: single rows are read as they are, only slower. */
  async stop(): Promise<void> {
    this.#end = performance.now() + CLOSING_MS;
    while (this.#running !== undefined) await this.#running;
  }

  get #isOver(): boolean {
    return performance.now() >= this.#end;
  }

  #start(): void {
    // Nothing depends on it: what fails is tried again after another write.
    this.#running ??= this.#run().catch(() => {}).finally(() => {
      this.#running = undefined;
      if (this.#waiting.size > 0 && !this.#isOver) this.#start();
    });
  }

  async #run(): Promise<void> {
    for (const [scopeId, numbered] of this.#waiting) {
      if (this.#isOver) return;
      this.#waiting.delete(scopeId);
      try {
        await this.#persist(() => this.#pack(numbered));
        const known = this.#known.get(scopeId);
        if (known !== undefined) known.links = 0;
        await this.#persist(() => this.#takeLinks(numbered));
      } catch (error) {
        if (error instanceof SvcError && !error.retryable) this.#bad.add(scopeId);
      }
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
  async #pack({ scopeId, scope }: NumberedScope): Promise<boolean | undefined> {
    const { dimensions, model } = this.#packing;
    const rows = await this.#ripe(scopeId);
    if (rows === undefined) return undefined;
    const entries: IndexEntry[] = [];
    for (let i = 0; i < rows.length; i += SLICE) {
      if (this.#isOver) return undefined;
      const start = performance.now();
      for (const { id, version, sealed, blob: link } of rows.slice(i, i + SLICE)) {
        const single = { scope, id: fromColumn(id), version, sealed, link };
        entries.push(this.#seals.openSingle(single, model).entry(0));
      }
      // A request takes many turns: work at every one of them would add up.
      const pause = (performance.now() - start) * (1 / SHARE - 1);
      if (this.#end === Infinity) await setTimeout(pause);
    }
    const next = "select nextval('svc.segment_id') as id";
    const { id } = (await this.#database.get<{ readonly id: number }>(next))!;
    const sealed = await this.#seals.sealSegment(id, scope, entries, dimensions);
    return await this.#database.transaction((statements) =>
      this.#place(statements, scopeId, { id, model, sealed }, rows)
    );
  }

  /**
   * The oldest rows of the present model that make a segment: those whose blob is known, as nothing
   * is to come for them; else any, when there are twice as many as needed. Those of another model
   * stay single: they are to be written anew.
   */
  async #ripe(scopeId: number): Promise<Row[] | undefined> {
    const { model, segmentSize } = this.#packing;
    const counted = await this.#database.all<{ readonly seq: number; readonly linked: boolean }>(
      `select seq, blob is not null as linked from svc.entry
       where scope = $1 and segment is null and model = $2 order by seq limit $3`,
      scopeId,
      model,
      2 * segmentSize,
    );
    const linked = counted.filter((row) => row.linked);
    const wanted = linked.length >= segmentSize ? linked : counted;
    if (wanted !== linked && counted.length < 2 * segmentSize) {
      const left = Math.min(segmentSize - linked.length, 2 * segmentSize - counted.length);
      this.#known.set(scopeId, { left, links: 0 });
      return undefined;
    }
    const seqs = wanted.slice(0, segmentSize).map(({ seq }) => seq);
    const sql = `select seq, id, version, blob, sealed from svc.entry
      where scope = $1 and segment is null and seq = any($2::bigint[]) order by seq`;
    const rows = await this.#database.all<Row>(sql, scopeId, seqs);
    return rows.length === seqs.length ? rows : undefined;
  }

  /** Puts a segment in place of its rows; false when one of them changed. */
  async #place(
    statements: Statements,
    scopeId: number,
    { id, model, sealed }: SealedSegment,
    rows: readonly Row[],
  ): Promise<boolean> {
    await takeScope(statements, scopeId);
    const seqs = rows.map(({ seq }) => seq);
    // A memory that is written again has another number.
    const there = await statements.all(
      "select 1 from svc.entry where scope = $1 and segment is null and seq = any($2::bigint[])",
      scopeId,
      seqs,
    );
    if (there.length !== rows.length) return false;
    await statements.all(
      `update svc.entry e set segment = $2, sealed = null, model = null,
         blob = case when e.blob is not distinct from g.blob then null else e.blob end
       from unnest($3::bigint[], $4::bytea[]) as g(seq, blob)
       where e.scope = $1 and e.segment is null and e.seq = g.seq`,
      scopeId,
      id,
      seqs,
      rows.map(({ blob }) => blob),
    );
    const place = "update svc.scope set places = places + 1 where id = $1 returning places";
    const { places } = (await statements.get<{ readonly places: number }>(place, scopeId))!;
    await statements.all(
      "insert into svc.segment(id, scope, place, model, sealed) values($1, $2, $3, $4, $5)",
      id,
      scopeId,
      places,
      model,
      sealed,
    );
    return true;
  }

  /** Writes one segment again with the blob ids recorded since; `undefined` when none has many. */
  async #takeLinks({ scopeId, scope }: NumberedScope): Promise<boolean | undefined> {
    const many = await this.#database.get<SealedSegment>(
      `select g.id, g.model, g.sealed from svc.segment g where g.scope = $1 and
         (select count(*) from svc.entry e where e.segment = g.id and e.blob is not null) * 4 >= $2
       limit 1`,
      scopeId,
      this.#packing.segmentSize,
    );
    if (many === undefined) return undefined;
    return await this.#database.transaction(async (statements) => {
      await takeScope(statements, scopeId);
      const held = await statements.get<SealedSegment>(
        "select id, model, sealed from svc.segment where id = $1",
        many.id,
      );
      if (held === undefined) return false;
      const links = await statements.all<LinkRow>(
        "select id, version, blob from svc.entry where segment = $1 and blob is not null",
        many.id,
      );
      // Vectors of another model stay as they are.
      const segment = await this.#seals.openWhole(scope, held, linksOf(this.#seals, scope, links));
      const entries = segment.entries();
      const sealed = await this.#seals.sealSegment(many.id, scope, entries, segment.dimensions);
      await statements.all("update svc.segment set sealed = $2 where id = $1", many.id, sealed);
      const sql = "update svc.entry set blob = null where segment = $1 and blob is not null";
      await statements.all(sql, many.id);
      return true;
    });
  }
}
