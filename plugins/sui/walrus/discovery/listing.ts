import type { BlobInfo, CallOptions, Scope } from "../../../../src/interfaces/mod.ts";
import { columnsOf } from "../../../../src/storage/sqlite/database.ts";
import type { Catalogue, PlacedPatch } from "../catalogue.ts";
import { blobIdOf, patchPlace } from "../quilt/patch_id.ts";
import { Quilt } from "../quilt/quilt.ts";
import { MAX_TOMBSTONES, type StoredBlob, TOMBSTONE_IDENTIFIER } from "../stored_blob.ts";
import { presentId } from "../upkeep/moves.ts";
import type { Ground } from "../walrus_state.ts";
import { isIndexed, isStoredSince, markIndexed } from "./found_rows.ts";
import type { Discovery } from "./look.ts";
import type { BlobBytes, ReadQuilt } from "./proven_bytes.ts";

interface ListingOptions extends Ground {
  readonly discovery: Pick<Discovery, "look">;
  readonly bytes: Pick<BlobBytes, "quilt" | "noteDigests">;
}

/** Blob objects that are looked up at a time. */
const PAGE = 64;

type Row = Pick<StoredBlob, "objectId" | "createdAt">;

const decoder = new TextDecoder();

/**
 * Lists what a scope has, from the chain and from what is known here. Reads quilts one after the
 * other, the newest first and each only once ever; holds one quilt, and the names of others.
 */
export class Listing {
  readonly #options: ListingOptions;

  constructor(options: ListingOptions) {
    this.#options = options;
  }

  /**
   * The blobs of a scope, newest first.
   *
   * @throws {SvcError} `storage_unavailable` when the chain or a quilt cannot be read now.
   */
  async *list(scope: Scope, options: CallOptions = {}): AsyncGenerator<BlobInfo> {
    const { catalogue, discovery } = this.#options;
    await discovery.look(scope.owner, options);
    const { epoch } = await this.#options.state();
    const moves = new MovesMeanwhile(catalogue, scope);
    let before: Row = { objectId: "", createdAt: Number.MAX_SAFE_INTEGER };
    for (;;) {
      options.signal?.throwIfAborted();
      const rows = this.#page(scope, epoch, before);
      for (const row of rows) {
        before = row;
        const blob = catalogue.stored(row.objectId);
        // A quilt that was replaced is named by a newer one, which was read before.
        if (blob === undefined || blob.quilt && catalogue.isDeleted(scope, blob.blobId)) continue;
        await this.index(blob);
        options.signal?.throwIfAborted();
        if (blob.quilt) moves.noteListed(blob.blobId);
        const patches = catalogue.patchesIn(scope, blob.blobId).reverse()
          .filter(({ id }) => catalogue.movedTo(scope, id) === undefined)
          .map((patch) => ({ ...patch, createdAt: blob.createdAt }));
        yield* this.#present(scope, patches, options);
      }
      if (rows.length < PAGE) break;
    }
    for (let missed = moves.missed(); missed.length > 0; missed = moves.missed()) {
      yield* this.#present(scope, missed, options);
    }
  }

  /** Patches that are not deleted, under the ids they have now. */
  *#present(
    scope: Scope,
    patches: readonly PlacedPatch[],
    { signal }: CallOptions,
  ): Generator<BlobInfo> {
    for (const { id, size, createdAt } of patches) {
      const blobId = presentId(this.#options.catalogue, scope, id);
      if (blobId === undefined) continue;
      yield { blobId, bytes: size, createdAt };
      signal?.throwIfAborted();
    }
  }

  /**
   * A patch of a scope. When it is not known here, this looks at its owner's blobs again and reads
   * the quilt its id names.
   */
  async find(
    scope: Scope,
    id: string,
    options: CallOptions = {},
  ): Promise<PlacedPatch | undefined> {
    const { catalogue, discovery } = this.#options;
    const known = this.#patch(scope, id);
    const blobId = blobIdOf(id);
    if (known !== undefined || blobId === undefined) return known;
    if (catalogue.isDeleted(scope, id)) return undefined;
    await discovery.look(scope.owner, options);
    const blob = catalogue.liveOf(scope, blobId);
    if (blob !== undefined) await this.index(blob);
    return this.#patch(scope, id);
  }

  #patch(scope: Scope, id: string): PlacedPatch | undefined {
    const { catalogue } = this.#options;
    return catalogue.isDeleted(scope, id) ? undefined : catalogue.patch(scope, id);
  }

  /**
   * Makes sure that the patches of a blob are in the catalogue. Returns whether they are known to
   * be all of them: a quilt that nobody has at the moment may hold any.
   */
  async index(blob: StoredBlob): Promise<boolean> {
    const { catalogue, bytes, log } = this.#options;
    if (!blob.quilt || isIndexed(catalogue.database, blob, blob.blobId)) return true;
    const read = await bytes.quilt(blob);
    if (read === undefined) {
      log("warn", "walrus: a quilt on chain cannot be read as one; it is left out");
      return false;
    }
    await catalogue.database.write(() => this.#note(blob, read));
    return read.proven;
  }

  /** Live blobs of a scope behind a row; each blob id once, with its oldest object. */
  #page(scope: Scope, epoch: number, before: Row): Row[] {
    return this.#options.catalogue.database.all<Row>(
      // The plus signs keep the query off the index of ends, which has everybody's blobs.
      `select object_id as objectId, created_at as createdAt from stored as s
       where owner = ? and namespace = ? and +state = 'live' and +end_epoch > ?
       and (created_at, object_id) < (?, ?)
       and not exists (select 1 from stored as o where o.blob_id = s.blob_id and +o.owner = s.owner
         and +o.namespace = s.namespace and +o.state = 'live' and +o.end_epoch > ?
         and (o.created_at, o.object_id) < (s.created_at, s.object_id))
       order by created_at desc, object_id desc limit ${PAGE}`,
      ...columnsOf(scope),
      epoch,
      before.createdAt,
      before.objectId,
      epoch,
    );
  }

  #note(blob: StoredBlob, read: ReadQuilt): void {
    const { catalogue, bytes } = this.#options;
    const { owner, namespace, blobId, createdAt } = blob;
    const scope = { owner, namespace };
    bytes.noteDigests(blobId, read);
    const ids = new Set<string>();
    for (const patch of read.quilt.patches) {
      const { identifier, bytes: size } = patch;
      const id = Quilt.idOf(blobId, patch);
      if (identifier === TOMBSTONE_IDENTIFIER) {
        // A lying aggregator must not be able to hide memories for good.
        if (!read.proven) continue;
        for (const deleted of idsIn(read.quilt.content(patch))) {
          if (isStoredSince(catalogue, scope, deleted, createdAt)) continue;
          catalogue.addTombstone(scope, deleted, createdAt, blobId);
        }
      } else if (!catalogue.isDeleted(scope, id)) {
        ids.add(id);
        catalogue.addPatch(scope, blobId, { id, identifier, size }, createdAt);
      }
    }
    for (const { id } of catalogue.patchesIn(scope, blobId)) {
      // From an earlier reading that was not proven.
      if (!ids.has(id)) catalogue.removePatch(scope, id);
    }
    if (read.proven) markIndexed(catalogue.database, scope, blobId);
  }
}

/** Ids in a tombstone patch, one a line. */
function idsIn(content: Uint8Array): string[] {
  return decoder.decode(content).split("\n", MAX_TOMBSTONES)
    .filter((id) => /^[A-Za-z0-9_-]{43,50}$/.test(id));
}

/**
 * The moves that happen while a scope is listed, newest quilt first. A patch that leaves its quilt
 * before that is listed goes into a newer one, which the listing has passed, and would be missed.
 */
class MovesMeanwhile {
  readonly #catalogue: Catalogue;
  readonly #scope: Scope;
  /** Number of the last move that was looked at. */
  #seen: number;
  /** Quilts that were listed, each with the number of the last move before that. */
  readonly #quilts = new Map<string, number>();
  /** Ids of patches that moved and were listed, under these or earlier ids. */
  readonly #listed = new Set<string>();

  /** Follows the moves from now on. */
  constructor(catalogue: Catalogue, scope: Scope) {
    this.#catalogue = catalogue;
    this.#scope = scope;
    this.#seen = this.#last();
  }

  /** Notes that the patches a quilt has at this moment are listed. */
  noteListed(quiltId: string): void {
    this.#quilts.set(quiltId, this.#last());
  }

  /** Patches that moved and were not listed; returned once. */
  missed(): PlacedPatch[] {
    const moves = this.#catalogue.database.all<{ seq: number; from: string; to: string }>(
      // The plus signs keep the query off the index of scopes, which has every move of this one.
      `select seq, from_id as "from", to_id as "to" from move
       where seq > ? and +owner = ? and +namespace = ? order by seq`,
      this.#seen,
      ...columnsOf(this.#scope),
    );
    const missed = new Map<string, PlacedPatch>();
    for (const { seq, from, to } of moves) {
      this.#seen = seq;
      missed.delete(from);
      if (this.#listed.has(from) || this.#listedAt(from) < seq) this.#listed.add(to);
      else if (this.#listedAt(to) === Infinity) {
        const patch = this.#catalogue.patch(this.#scope, to);
        if (patch !== undefined) missed.set(to, patch);
      }
    }
    for (const id of missed.keys()) this.#listed.add(id);
    return [...missed.values()];
  }

  /** Number of the last move before a patch's quilt was listed; infinite when it was not. */
  #listedAt(id: string): number {
    return this.#quilts.get(patchPlace(id)?.quiltId ?? id) ?? Infinity;
  }

  #last(): number {
    const sql = "select max(seq) as seq from move";
    return this.#catalogue.database.get<{ seq: number | null }>(sql)?.seq ?? 0;
  }
}
