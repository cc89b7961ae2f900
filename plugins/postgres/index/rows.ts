import type { BlobLink, IndexEntry, Scope } from "../../../src/interfaces/mod.ts";
import { fromColumn, toColumn } from "../../../src/storage/sqlite/database.ts";
import type { Statements } from "../statements.ts";
import type { Packing } from "./packing.ts";
import type { SealedSegment, Seals } from "./seals.ts";

/** A memory on its way into the index: sealed, beside what stays visible. */
export interface SealedEntry {
  readonly id: string;
  readonly version: number;
  readonly bytes: number;
  readonly updatedAt: number;
  readonly sealed: Uint8Array;
  /** Its blob id, sealed; `null` while it has none. */
  readonly link: Uint8Array | null;
}

/** A blob id on its way into the index, sealed. */
export interface SealedLink {
  readonly id: string;
  readonly version: number;
  readonly link: Uint8Array;
}

/** A scope, and its number in the database. */
export interface NumberedScope {
  readonly scopeId: number;
  readonly scope: Scope;
}

interface Place {
  readonly id: Uint8Array;
  readonly version: number;
  readonly bytes: number;
  readonly segment: number | null;
}

/** Blob ids recorded since a segment was written. */
export interface LinkRow {
  readonly id: Uint8Array;
  readonly version: number;
  readonly blob: Uint8Array;
}

const INSERT = `insert into svc.entry(scope, id, seq, version, bytes, blob, sealed, model)
  select $1, g.id, nextval('svc.entry_seq'), g.version, g.bytes, g.blob, g.sealed, $2
  from unnest($3::bytea[], $4::bigint[], $5::float8[], $6::bytea[], $7::bytea[])
    as g(id, version, bytes, blob, sealed)
  on conflict (id, scope) do update set seq = excluded.seq, version = excluded.version,
    bytes = excluded.bytes, segment = null, blob = excluded.blob, sealed = excluded.sealed,
    model = excluded.model`;

/** The entries that stay: of several versions the highest, of equal ones the last. */
function staying(entries: readonly SealedEntry[], before: ReadonlyMap<string, Place>) {
  const newest = new Map<string, SealedEntry>();
  let lastWrite = 0;
  for (const entry of entries) {
    const { version } = newest.get(entry.id) ?? before.get(entry.id) ?? { version: 0 };
    if (version > entry.version) continue;
    newest.set(entry.id, entry);
    lastWrite = Math.max(lastWrite, entry.updatedAt);
  }
  return { written: [...newest.values()], lastWrite };
}

/** Takes a scope for a transaction: nobody else changes its rows meanwhile. */
export async function takeScope(statements: Statements, scopeId: number): Promise<void> {
  await statements.all("select 1 from svc.scope where id = $1 for update", scopeId);
}

/** Blob ids recorded since segments were written, by memory id. */
export function linksOf(seals: Seals, scope: Scope, rows: readonly LinkRow[]): Map<string, string> {
  return new Map(rows.map(({ id, version, blob }) => {
    const name = fromColumn(id);
    return [name, seals.openLink(scope, name, version, blob)];
  }));
}

/** Changes of a scope's rows. Each runs in a transaction, which takes the scope first. */
export class Rows {
  readonly #seals: Seals;
  readonly #packing: Packing;

  constructor(seals: Seals, packing: Packing) {
    this.#seals = seals;
    this.#packing = packing;
  }

  seal(entry: IndexEntry): SealedEntry {
    const { id, version, bytes, updatedAt, blobId } = entry;
    const link = blobId === undefined ? null : this.#seals.sealLink(entry, id, version, blobId);
    const sealed = this.#seals.sealRow("entry", entry, this.#packing.dimensions);
    return { id, version, bytes, updatedAt, sealed, link };
  }

  sealLinks(scope: Scope, links: readonly BlobLink[]): SealedLink[] {
    return links.map(({ id, version, blobId }) => ({
      id,
      version,
      link: this.#seals.sealLink(scope, id, version, blobId),
    }));
  }

  /** Adds or replaces memories of one scope; a lower version than the stored one is ignored. */
  async upsert(
    statements: Statements,
    { scopeId, scope }: NumberedScope,
    entries: readonly SealedEntry[],
  ): Promise<void> {
    await takeScope(statements, scopeId);
    const ids = [...new Set(entries.map(({ id }) => id))];
    const before = await this.#places(statements, scopeId, ids);
    const { written, lastWrite } = staying(entries, before);
    if (written.length === 0) return;
    await statements.all(
      INSERT,
      scopeId,
      this.#packing.model,
      written.map(({ id }) => toColumn(id)),
      written.map(({ version }) => version),
      written.map(({ bytes }) => bytes),
      written.map(({ link }) => link),
      written.map(({ sealed }) => sealed),
    );
    const replaced = written.flatMap(({ id }) => before.get(id) ?? []);
    await this.#thin(statements, { scopeId, scope }, replaced);
    const sum = (rows: readonly { readonly bytes: number }[]) =>
      rows.reduce((total, { bytes }) => total + bytes, 0);
    await statements.all(
      `update svc.scope set revision = revision + 1, count = count + $2, bytes = bytes + $3,
         last_write = greatest(last_write, $4) where id = $1`,
      scopeId,
      written.length - replaced.length,
      sum(written) - sum(replaced),
      lastWrite,
    );
  }

  /** Records blob ids; answers how many of them wait beside segments. */
  async link(
    statements: Statements,
    scopeId: number,
    given: readonly SealedLink[],
  ): Promise<number> {
    const last = new Map(given.map((link) => [`${link.version} ${link.id}`, link]));
    const links = [...last.values()];
    await statements.all("update svc.scope set revision = revision + 1 where id = $1", scopeId);
    const linked = await statements.all<{ readonly segment: number | null }>(
      `update svc.entry e set blob = g.blob
       from unnest($2::bytea[], $3::bigint[], $4::bytea[]) as g(id, version, blob)
       where e.scope = $1 and e.id = g.id and e.version = g.version returning e.segment`,
      scopeId,
      links.map(({ id }) => toColumn(id)),
      links.map(({ version }) => version),
      links.map(({ link }) => link),
    );
    return linked.filter(({ segment }) => segment !== null).length;
  }

  /** Removes memories; unknown ids are ignored. */
  async remove(
    statements: Statements,
    { scopeId, scope }: NumberedScope,
    ids: readonly string[],
  ): Promise<void> {
    await takeScope(statements, scopeId);
    const gone = await statements.all<Place>(
      `delete from svc.entry where scope = $1 and id = any($2::bytea[])
       returning id, version, bytes, segment`,
      scopeId,
      ids.map(toColumn),
    );
    if (gone.length === 0) return;
    await this.#thin(statements, { scopeId, scope }, gone);
    await statements.all(
      `update svc.scope set revision = revision + 1, count = count - $2, bytes = bytes - $3
       where id = $1`,
      scopeId,
      gone.length,
      gone.reduce((total, { bytes }) => total + bytes, 0),
    );
  }

  async #places(
    statements: Statements,
    scopeId: number,
    ids: readonly string[],
  ): Promise<Map<string, Place>> {
    const rows = await statements.all<Place>(
      `select id, version, bytes, segment from svc.entry
       where scope = $1 and id = any($2::bytea[])`,
      scopeId,
      ids.map(toColumn),
    );
    return new Map(rows.map((row) => [fromColumn(row.id), row]));
  }

  /** Takes memories that are gone, or are rows of their own again, out of their segments. */
  async #thin(
    statements: Statements,
    numbered: NumberedScope,
    gone: readonly Place[],
  ): Promise<void> {
    const emptied = new Map<number, Set<string>>();
    for (const { id, segment } of gone) {
      if (segment === null) continue;
      emptied.getOrInsertComputed(segment, () => new Set()).add(fromColumn(id));
    }
    for (const [segment, ids] of emptied) await this.#rewrite(statements, numbered, segment, ids);
  }

  /** Writes a segment again, without some memories and with the blob ids recorded since. */
  async #rewrite(
    statements: Statements,
    { scopeId, scope }: NumberedScope,
    segmentId: number,
    without: ReadonlySet<string>,
  ): Promise<void> {
    const held = await statements.get<SealedSegment>(
      "select id, model, sealed from svc.segment where id = $1",
      segmentId,
    );
    const rows = await statements.all<LinkRow>(
      "select id, version, blob from svc.entry where segment = $1 and blob is not null",
      segmentId,
    );
    const links = linksOf(this.#seals, scope, rows);
    // Vectors of another model stay as they are.
    const segment = await this.#seals.openWhole(scope, held!, links);
    const { dimensions } = segment;
    const left = segment.entries().filter(({ id }) => !without.has(id));
    // A nearly empty segment costs as much as a page of a scan: its rest goes back to single rows.
    if (left.length > 0 && left.length * 16 >= this.#packing.segmentSize) {
      const sealed = await this.#seals.sealSegment(segmentId, scope, left, dimensions);
      await statements.all("update svc.segment set sealed = $2 where id = $1", segmentId, sealed);
      const taken = "update svc.entry set blob = null where segment = $1 and blob is not null";
      await statements.all(taken, segmentId);
      return;
    }
    await statements.all("delete from svc.segment where id = $1", segmentId);
    const sealLink = ({ id, version, blobId }: IndexEntry) =>
      blobId === undefined ? null : this.#seals.sealLink(scope, id, version, blobId);
    await statements.all(
      `update svc.entry e set segment = null, blob = g.blob, sealed = g.sealed, model = $2
       from unnest($3::bytea[], $4::bytea[], $5::bytea[]) as g(id, blob, sealed)
       where e.scope = $1 and e.id = g.id`,
      scopeId,
      held!.model,
      left.map(({ id }) => toColumn(id)),
      left.map(sealLink),
      left.map((entry) => this.#seals.sealRow("entry", entry, dimensions)),
    );
  }
}
