import type { IndexEntry, Scope } from "../../src/interfaces/mod.ts";
import type { Sealer } from "../../src/interfaces/plugin.ts";
import { fromColumn, toColumn } from "../../src/storage/sqlite/database.ts";
import { packSegment, Segment } from "./segment.ts";

/** What sealed bytes of the index are bound to, so that no row can stand in for another. */
function binding(kind: string, scope: Scope, ...identity: (string | number)[]): string {
  return JSON.stringify([kind, scope.owner, scope.namespace, ...identity]);
}

/** A single row of a memory. */
interface SingleRow {
  /** Version of the memory. */
  readonly version: number;
  /** Blob id recorded since the row was sealed, sealed itself. */
  readonly blob: Uint8Array | null;
  /** The packed memory, sealed. */
  readonly sealed: Uint8Array;
  /** Number of the model whose vectors it holds. */
  readonly model: number;
}

/** Seals and opens what rows of `index.db` hold. */
export class IndexSeals {
  readonly #sealer: Sealer;
  readonly #model: number;

  /** `model` is the number of the present model in the file. */
  constructor(sealer: Sealer, model: number) {
    this.#sealer = sealer;
    this.#model = model;
  }

  /** Whether vectors are of another model than the present one. */
  isOutdated(model: number): boolean {
    return model !== this.#model;
  }

  /** Seals one memory. */
  sealEntry(entry: IndexEntry, dimensions: number): Uint8Array {
    const packed = packSegment([entry], dimensions);
    return this.#sealer.seal(packed, binding("entry", entry, entry.id, entry.version));
  }

  /** Opens the single row of one memory. */
  openEntry(scope: Scope, id: string, { version, sealed, blob, model }: SingleRow): Segment {
    const packed = this.#sealer.open(sealed, binding("entry", scope, id, version));
    const links = new Map<string, string>();
    if (blob !== null) links.set(id, this.openLink(scope, id, version, blob));
    return new Segment(scope, packed, links, this.isOutdated(model));
  }

  /** Seals a blob id. */
  sealLink(scope: Scope, id: string, version: number, blobId: string): Uint8Array {
    return this.#sealer.seal(toColumn(blobId), binding("link", scope, id, version));
  }

  /** Opens a blob id recorded after its memory was sealed. */
  openLink(scope: Scope, id: string, version: number, link: Uint8Array): string {
    return fromColumn(this.#sealer.open(link, binding("link", scope, id, version)));
  }

  /** Packs and seals memories of a segment. */
  sealSegment(
    seq: number,
    scope: Scope,
    entries: readonly IndexEntry[],
    dimensions: number,
  ): Uint8Array {
    return this.#sealer.seal(packSegment(entries, dimensions), binding("segment", scope, seq));
  }

  /** As `sealSegment`, on the thread pool. */
  async sealSegmentLater(
    seq: number,
    scope: Scope,
    entries: readonly IndexEntry[],
    dimensions: number,
  ): Promise<Uint8Array> {
    const packed = packSegment(entries, dimensions);
    return await this.#sealer.sealLarge(packed, binding("segment", scope, seq));
  }

  /** The packed memories of a segment. */
  openSegment(seq: number, scope: Scope, sealed: Uint8Array): Uint8Array {
    return this.#sealer.open(sealed, binding("segment", scope, seq));
  }

  /** As `openSegment`, on the thread pool. */
  async openSegmentLater(seq: number, scope: Scope, sealed: Uint8Array): Promise<Uint8Array> {
    return await this.#sealer.openLarge(sealed, binding("segment", scope, seq));
  }
}
