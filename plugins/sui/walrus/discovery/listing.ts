import type { BlobInfo, CallOptions, Scope } from "../../../../src/interfaces/mod.ts";
import type { Catalogue, PlacedPatch } from "../catalogue.ts";
import { MAX_TOMBSTONES, type StoredBlob, TOMBSTONE_IDENTIFIER } from "../stored_blob.ts";
import { columnsOf } from "../../../../src/storage/sqlite/database.ts";
import { isBlobId, patchPlace } from "../quilt/patch_id.ts";
import { Quilt } from "../quilt/quilt.ts";
import { presentId } from "../upkeep/moves.ts";
import { isIndexed, markIndexed } from "./found_rows.ts";
import type { Discovery } from "./look.ts";
import { MovesMeanwhile } from "./moves_meanwhile.ts";
import type { BlobBytes, ReadQuilt } from "./proven_bytes.ts";
import { isStoredSince } from "./stored_anew.ts";

/** Options of {@linkcode Listing}. */
export interface ListingOptions {
  /** What is known here; its file has `DISCOVERY_SCHEMA`. */
  readonly catalogue: Catalogue;
  /** Finds what is not. */
  readonly discovery: Pick<Discovery, "look">;
  /** Reads quilts whose patches are not known yet. */
  readonly bytes: Pick<BlobBytes, "quilt" | "noteDigests">;
  /** The Walrus epoch. */
  readonly epoch: () => Promise<number>;
  /** Notes for the operator. */
  readonly log: (level: "debug" | "warn", message: string) => void;
}

/** Blob objects that are looked up at a time. */
const PAGE = 64;

interface Row {
  readonly object_id: string;
  readonly created_at: number;
}

const decoder = new TextDecoder();

/**
 * Lists what a scope has, from the chain and what is known here. Quilts are read one after the
 * other, the newest first and each only once ever; what is in memory is one quilt, and the names
 * of quilts.
 */
export class Listing {
  readonly #options: ListingOptions;

  /** Contacts nothing by itself. */
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
    const epoch = await this.#options.epoch();
    const moves = new MovesMeanwhile(catalogue, scope);
    let before: Row = { object_id: "", created_at: Number.MAX_SAFE_INTEGER };
    for (;;) {
      options.signal?.throwIfAborted();
      const rows = this.#page(scope, epoch, before);
      for (const row of rows) {
        before = row;
        const blob = catalogue.stored(row.object_id);
        // A quilt that another one replaced is named by a newer one, which was read before.
        if (blob === undefined || blob.quilt && catalogue.isDeleted(scope, blob.blobId)) continue;
        await this.index(blob);
        options.signal?.throwIfAborted();
        if (blob.quilt) moves.noteListed(blob.blobId);
        const patches = catalogue.patchesIn(scope, blob.blobId)
          .filter(({ id }) => catalogue.movedTo(scope, id) === undefined);
        for (const patch of patches.reverse()) {
          const blobId = presentId(catalogue, scope, patch.id);
          if (blobId === undefined) continue;
          yield { blobId, bytes: patch.size, createdAt: blob.createdAt };
          options.signal?.throwIfAborted();
        }
      }
      if (rows.length < PAGE) break;
    }
    for (let missed = moves.missed(); missed.length > 0; missed = moves.missed()) {
      for (const { id, size, createdAt } of missed) {
        const blobId = presentId(catalogue, scope, id);
        if (blobId === undefined) continue;
        yield { blobId, bytes: size, createdAt };
        options.signal?.throwIfAborted();
      }
    }
  }

  /**
   * A patch of a scope. For one that is not known here its owner's blobs are looked at again, and
   * the quilt its id names is read.
   */
  async find(
    scope: Scope,
    id: string,
    options: CallOptions = {},
  ): Promise<PlacedPatch | undefined> {
    const { catalogue, discovery } = this.#options;
    const known = this.#patch(scope, id);
    const blobId = patchPlace(id)?.quiltId ?? (isBlobId(id) ? id : undefined);
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
   * Makes sure that the patches of a blob are in the catalogue. Answers whether they are known to
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

  /** Live blobs of a scope behind a row, each blob id once: with the object it came with first. */
  #page(scope: Scope, epoch: number, before: Row): Row[] {
    return this.#options.catalogue.database.all<Row>(
      // The signs keep the query off the index of ends, which has everybody's blobs.
      `select object_id, created_at from stored as s
       where owner = ? and namespace = ? and +state = 'live' and +end_epoch > ?
       and (created_at, object_id) < (?, ?)
       and not exists (select 1 from stored as o where o.blob_id = s.blob_id and +o.owner = s.owner
         and +o.namespace = s.namespace and +o.state = 'live' and +o.end_epoch > ?
         and (o.created_at, o.object_id) < (s.created_at, s.object_id))
       order by created_at desc, object_id desc limit ${PAGE}`,
      ...columnsOf(scope),
      epoch,
      before.created_at,
      before.object_id,
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
        // What hides memories for good must not come from an aggregator that may lie.
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
