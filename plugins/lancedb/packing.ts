import type { IndexEntry, Scope } from "../../src/interfaces/mod.ts";
import type { Sealer } from "../../src/interfaces/plugin.ts";
import { packSegment, Segment } from "../local/segment.ts";

/** What sealed bytes are bound to, so that no row can stand in for another. */
function binding(kind: string, scope: Scope, id: string, version: number): string {
  return JSON.stringify([kind, scope.owner, scope.namespace, id, version]);
}

/** Seals what the store keeps of a memory. */
export class Packing {
  readonly #sealer: Sealer;
  readonly #dimensions: number;

  /** Vectors have `dimensions` numbers. */
  constructor(sealer: Sealer, dimensions: number) {
    this.#sealer = sealer;
    this.#dimensions = dimensions;
  }

  /**
   * A whole memory, vectors included: waits in the catalogue.
   * @throws {SvcError} `dimension_mismatch`.
   */
  sealWhole(entry: IndexEntry): Uint8Array {
    return this.#seal("whole", entry, entry);
  }

  /** Opens {@linkcode Packing.sealWhole}; `link` is a blob id recorded since. */
  openWhole(row: PackedRow): IndexEntry {
    return this.#open("whole", row);
  }

  /** A memory without its vectors, which the table holds in the clear. */
  sealRest(entry: IndexEntry): Uint8Array {
    return this.#seal("rest", entry, { ...entry, vectors: [] });
  }

  /** Opens {@linkcode Packing.sealRest} and puts the vectors back. */
  openRest(row: PackedRow, vectors: readonly Float32Array[]): IndexEntry {
    return { ...this.#open("rest", row), vectors };
  }

  /** Seals a blob id that became known after the memory was sealed. */
  sealLink(scope: Scope, id: string, version: number, blobId: string): Uint8Array {
    const bytes = new TextEncoder().encode(blobId);
    return this.#sealer.seal(bytes, binding("link", scope, id, version));
  }

  #seal(kind: string, { id, version, ...scope }: IndexEntry, kept: IndexEntry): Uint8Array {
    const packed = packSegment([kept], this.#dimensions);
    return this.#sealer.seal(packed, binding(kind, scope, id, version));
  }

  #open(kind: string, { scope, id, version, sealed, link }: PackedRow): IndexEntry {
    const packed = this.#sealer.open(sealed, binding(kind, scope, id, version));
    const entry = new Segment(scope, packed).copy(0);
    if (link === null) return entry;
    const blobId = this.#sealer.open(link, binding("link", scope, id, version));
    return { ...entry, blobId: new TextDecoder().decode(blobId) };
  }
}

/** A sealed memory and what it is bound to. */
interface PackedRow {
  /** Owner and namespace. */
  readonly scope: Scope;
  /** Memory id. */
  readonly id: string;
  /** Version of the memory. */
  readonly version: number;
  /** The sealed bytes. */
  readonly sealed: Uint8Array;
  /** Blob id recorded since, sealed; null when there is none. */
  readonly link: Uint8Array | null;
}
