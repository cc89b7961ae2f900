import { SvcError } from "../../src/errors.ts";
import type {
  IndexEntry,
  OutdatedScope,
  ScanPage,
  Scope,
  ScopeCount,
  VectorStore,
} from "../../src/interfaces/mod.ts";
import type { Sealer } from "../../src/interfaces/plugin.ts";
import { requireEmbedder, requireLength, type StoreIdentity } from "../shared/rows/index_file.ts";
import { free } from "../shared/rows/free.ts";
import { type Candidate, matchOf, nearestWith } from "../shared/rows/nearest.ts";
import type { DatabaseOptions, PostgresDatabase } from "./database.ts";
import { Packer } from "./index/packer.ts";
import type { Packing } from "./index/packing.ts";
import { type Page, Reader } from "./index/reader.ts";
import { type NumberedScope, Rows, type SealedEntry, type SealedLink } from "./index/rows.ts";
import { ScopeWrites } from "./index/scope_writes.ts";
import { Scopes } from "./index/scopes.ts";
import { Seals } from "./index/seals.ts";
import { DatabaseShare } from "./shared_database.ts";

/** Settings of {@linkcode postgresVectorStore}. */
export interface PostgresVectorStoreOptions extends DatabaseOptions {
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
 * Index rows in tables of a PostgreSQL database. New memories are single sealed rows; 128 of a scope
 * are packed into one sealed segment, so that a scope is read and opened in large pieces. The server
 * sees no vector: search is exact, and reads the whole scope. Several relayers may use one database.
 *
 * @throws {SvcError} `storage_unavailable` when the database cannot be used, not retryable when it was
 * sealed under another relayer key; `invalid_parameter` when a later version of the program wrote it,
 * and without the embedder's length and model.
 */
export async function postgresVectorStore(
  options: PostgresVectorStoreOptions,
): Promise<VectorStore> {
  requireEmbedder(options);
  const { sealer, dimensions, segmentSize = 128 } = options;
  const share = await DatabaseShare.open(options);
  try {
    await checkSeal(share.database, sealer);
    const model = await modelOf(share.database, options);
    return new PostgresVectorStore(share, sealer, { dimensions, model, segmentSize });
  } catch (error) {
    await share[Symbol.asyncDispose]();
    throw error;
  }
}

/** Refuses a database whose index another relayer key sealed. */
async function checkSeal(database: PostgresDatabase, sealer: Sealer): Promise<void> {
  const fresh = sealer.seal(new Uint8Array(0), "seal");
  await database.all("insert into svc.meta values('index', $1) on conflict do nothing", fresh);
  const sql = "select value from svc.meta where name = 'index'";
  const { value } = (await database.get<{ readonly value: Uint8Array }>(sql))!;
  try {
    sealer.open(value, "seal");
  } catch (cause) {
    const text = "The database was sealed under another relayer key: configure that key again";
    throw new SvcError("storage_unavailable", text, { retryable: false, cause });
  }
}

/** The number that a model has in the database. */
async function modelOf(
  database: PostgresDatabase,
  { model, dimensions }: StoreIdentity,
): Promise<number> {
  const identity = JSON.stringify([model, dimensions]);
  const insert = "insert into svc.model(identity) values($1) on conflict do nothing";
  await database.all(insert, identity);
  const sql = "select id from svc.model where identity = $1";
  return (await database.get<{ readonly id: number }>(sql, identity))!.id;
}

class PostgresVectorStore implements VectorStore {
  readonly leavesDeleted = true;
  readonly #share: DatabaseShare;
  readonly #dimensions: number;
  readonly #model: number;
  readonly #scopes: Scopes;
  readonly #rows: Rows;
  readonly #upserts: ScopeWrites<SealedEntry>;
  readonly #links: ScopeWrites<SealedLink>;
  readonly #reader: Reader;
  readonly #packer: Packer;

  constructor(share: DatabaseShare, sealer: Sealer, packing: Packing) {
    const { database } = share;
    const seals = new Seals(sealer, packing.model);
    this.#share = share;
    this.#dimensions = packing.dimensions;
    this.#model = packing.model;
    this.#scopes = new Scopes(database);
    const rows = this.#rows = new Rows(seals, packing);
    this.#upserts = new ScopeWrites((numbered, entries) =>
      database.transaction((statements) => rows.upsert(statements, numbered, entries))
    );
    this.#links = new ScopeWrites(async (numbered, links) => {
      const beside = await database.transaction((statements) =>
        rows.link(statements, numbered.scopeId, links)
      );
      this.#packer.note(numbered, links.length, beside);
    });
    this.#reader = new Reader(database, seals);
    this.#packer = new Packer(database, seals, packing);
  }

  async upsert(...[entries, options]: Parameters<VectorStore["upsert"]>): Promise<void> {
    this.#share.check(options?.signal);
    const byScope = new Map<string, { readonly scope: Scope; readonly sealed: SealedEntry[] }>();
    for (const entry of entries) {
      const { owner, namespace } = entry;
      const name = JSON.stringify([owner, namespace]);
      const none = () => ({ scope: { owner, namespace }, sealed: [] });
      byScope.getOrInsertComputed(name, none).sealed.push(this.#rows.seal(entry));
    }
    for (const { scope, sealed } of byScope.values()) {
      const scopeId = await this.#scopes.findOrMake(scope);
      await this.#upserts.add({ scopeId, scope }, sealed);
      this.#packer.note({ scopeId, scope }, sealed.length);
    }
  }

  async link(...[scope, links, options]: Parameters<VectorStore["link"]>): Promise<void> {
    this.#share.check(options?.signal);
    const sealed = this.#rows.sealLinks(scope, links);
    const numbered = await this.#find(scope);
    if (numbered === undefined || sealed.length === 0) return;
    await this.#links.add(numbered, sealed);
  }

  async delete(...[scope, ids, options]: Parameters<VectorStore["delete"]>): Promise<void> {
    this.#share.check(options?.signal);
    const gone = [...ids];
    const numbered = await this.#find(scope);
    if (numbered === undefined || gone.length === 0) return;
    await this.#share.database.transaction((statements) =>
      this.#rows.remove(statements, numbered, gone)
    );
    // A segment that was nearly empty has become single rows again.
    this.#packer.note(numbered, Infinity);
  }

  async search(...[query, options]: Parameters<VectorStore["search"]>) {
    this.#share.check(options?.signal);
    requireLength(query.vector, this.#dimensions);
    let nearest: readonly Candidate[] = [];
    let cursor: string | undefined;
    do {
      const page: Page = await this.#page(query, cursor, options?.signal);
      for (const segment of page.segments) nearest = nearestWith(nearest, segment, query);
      page.packed.forEach(free);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return nearest.map(matchOf);
  }

  async get(...[owner, ids, options]: Parameters<VectorStore["get"]>): Promise<IndexEntry[]> {
    this.#share.check(options?.signal);
    const found = await this.#reader.get(owner, [...new Set(ids)]);
    options?.signal?.throwIfAborted();
    return found;
  }

  async scan(...[scope, cursor, options]: Parameters<VectorStore["scan"]>): Promise<ScanPage> {
    const page = await this.#page(scope, cursor, options?.signal);
    const { segments, order, packed, cursor: next } = page;
    const all = segments.flatMap((segment) => segment.entries());
    const entries = order === undefined ? all : all.filter(({ id }) => order.has(id))
      .sort((a, b) => order.get(a.id)! - order.get(b.id)!);
    return {
      entries,
      ...(next === undefined ? {} : { cursor: next }),
      ...(packed.length === 0 ? {} : { release: () => packed.forEach(free) }),
    };
  }

  async scopes(...[owner, options]: Parameters<VectorStore["scopes"]>): Promise<ScopeCount[]> {
    this.#share.check(options?.signal);
    return await this.#scopes.counts(owner);
  }

  async outdated(
    ...[options]: Parameters<NonNullable<VectorStore["outdated"]>>
  ): Promise<OutdatedScope[]> {
    this.#share.check(options?.signal);
    return await this.#scopes.outdated(this.#model);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#packer.stop();
    await this.#share[Symbol.asyncDispose]();
  }

  async #page(scope: Scope, cursor: string | undefined, signal?: AbortSignal): Promise<Page> {
    this.#share.check(signal);
    const numbered = await this.#find(scope);
    if (numbered === undefined) return { segments: [], packed: [], isLoose: false };
    const page = await this.#reader.page(numbered.scopeId, numbered.scope, cursor);
    signal?.throwIfAborted();
    // A process that was killed left these, and nobody may ever write there again.
    if (page.isLoose) this.#packer.note(numbered, Infinity);
    return page;
  }

  async #find({ owner, namespace }: Scope): Promise<NumberedScope | undefined> {
    const scope = { owner, namespace };
    const scopeId = await this.#scopes.find(scope);
    return scopeId === undefined ? undefined : { scopeId, scope };
  }
}
