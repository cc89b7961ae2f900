import { SvcError } from "../../../../src/errors.ts";
import type { Scope } from "../../../../src/interfaces/mod.ts";
import { columnsOf, type ScopeColumns, scopeOf } from "../../../../src/storage/sqlite/database.ts";
import type { BlobBytes } from "../discovery/proven_bytes.ts";
import type { StoredBlob } from "../stored_blob.ts";
import type { BlobWriter } from "../upload/uploads.ts";
import type { Ground } from "../walrus_state.ts";

/**
 * `moving`: patches that are being copied into another quilt, each from the Blob object `source`.
 * The idempotency key of a copy is made of the patch id, so that repeating it yields the same copy.
 */
export const UPKEEP_SCHEMA = `
create table if not exists moving(
  owner blob not null, namespace blob not null, id text not null, source text not null,
  primary key(owner, namespace, id)) strict, without rowid`;

/** A patch that is being copied. */
interface Moving {
  readonly id: string;
  readonly source: string;
}

/** What a {@linkcode Merger} works with. */
export interface MergeOptions extends Ground {
  readonly writer: Pick<BlobWriter, "put" | "moved">;
  readonly bytes: Pick<BlobBytes, "patch">;
}

/** Patches that are read at a time. */
const READS = 8;

/**
 * Copies live patches into a new quilt, and moves their ids there. Each copy is noted before it
 * begins and has a key of its own, so that after a crash at any point the same copies go on. A source
 * counts as replaced only when all its live patches are certified elsewhere.
 */
export class Merger {
  readonly #options: MergeOptions;

  constructor(options: MergeOptions) {
    this.#options = options;
  }

  /**
   * Moves the live patches of some blobs of one scope.
   *
   * @throws {SvcError} why a patch could not be read or stored; the others moved.
   */
  async merge(scope: Scope, sources: readonly StoredBlob[]): Promise<void> {
    const { catalogue } = this.#options;
    await catalogue.database.write(() => {
      for (const { objectId, blobId } of sources) {
        for (const { id } of catalogue.livePatchesIn(scope, blobId)) {
          const sql = "insert or ignore into moving values(?, ?, ?, ?)";
          catalogue.database.run(sql, ...columnsOf(scope), id, objectId);
        }
      }
    });
    await this.#copy(scope);
  }

  /**
   * Goes on with all copies that have begun.
   *
   * @throws {SvcError} as `merge`, after all scopes had their turn.
   */
  async resume(): Promise<void> {
    let failure: unknown;
    const sql = "select distinct owner, namespace from moving";
    for (const row of this.#options.catalogue.database.all<ScopeColumns>(sql)) {
      await this.#copy(scopeOf(row)).catch((error) => failure ??= error);
    }
    if (failure !== undefined) throw failure;
  }

  async #copy(scope: Scope): Promise<void> {
    const { catalogue, writer } = this.#options;
    const { database } = catalogue;
    const sql = "select id, source from moving where owner = ? and namespace = ?";
    const begun = database.all<Moving>(sql, ...columnsOf(scope));
    const read = await this.#read(scope, begun);
    // All at once, because items that come together share a quilt.
    const copies = await Promise.allSettled(read.map(async (item) => {
      const { id, bytes } = await item;
      if (bytes === undefined) return { id, to: undefined };
      return { id, to: await writer.put(bytes, { ...scope, idempotencyKey: `move:${id}` }) };
    }));
    const done = copies.flatMap((copy) => copy.status === "fulfilled" ? [copy.value] : []);
    await database.write(() => {
      for (const { id, to } of done) {
        const sql = "delete from moving where owner = ? and namespace = ? and id = ?";
        database.run(sql, ...columnsOf(scope), id);
        if (to === undefined || to === id) continue;
        if (catalogue.isDeleted(scope, id)) {
          // Deleted while it was copied.
          catalogue.addTombstone(scope, to, this.#options.now());
          catalogue.drop(scope, to);
        } else {
          catalogue.addMove({ ...scope, from: id, to }, this.#options.now());
          writer.moved(scope, id, to);
        }
      }
      for (const source of new Set(begun.map((item) => item.source))) this.#leave(scope, source);
    });
    const failed = copies.find((copy) => copy.status === "rejected");
    if (failed !== undefined) throw SvcError.from(failed.reason);
  }

  /** Notes that a source is replaced, unless some of its live patches did not move. */
  #leave(scope: Scope, objectId: string): void {
    const { catalogue, now } = this.#options;
    const stored = catalogue.stored(objectId);
    if (stored?.state !== "live") return;
    // A reading of the quilt may have added some meanwhile; the next round takes them.
    if (catalogue.livePatchesIn(scope, stored.blobId).length > 0) return;
    catalogue.setState(objectId, "replaced");
    // The scope's next quilt tells others.
    catalogue.addTombstone(scope, stored.blobId, now());
  }

  /** Reads patches, a few at a time; each read may fail by itself. */
  async #read(
    scope: Scope,
    begun: readonly Moving[],
  ): Promise<Promise<{ id: string; bytes: Uint8Array | undefined }>[]> {
    const { catalogue, bytes, log } = this.#options;
    const all: Promise<{ id: string; bytes: Uint8Array | undefined }>[] = [];
    for (let at = 0; at < begun.length; at += READS) {
      const part = begun.slice(at, at + READS).map(async ({ id }) => {
        const patch = catalogue.patch(scope, id);
        const content = patch === undefined ? undefined : await bytes.patch(scope, patch);
        if (content === undefined) log("warn", "walrus: a patch is no longer there to be moved");
        return { id, bytes: content };
      });
      await Promise.allSettled(part);
      all.push(...part);
    }
    return all;
  }
}
