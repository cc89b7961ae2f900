import type { IndexEntry, Scope } from "../../../src/interfaces/mod.ts";
import type { Sealer } from "../../../src/interfaces/plugin.ts";
import { fromColumn, toColumn } from "../../../src/storage/sqlite/database.ts";
import { packSegment, Segment } from "./segment.ts";

/** What sealed bytes of an index are bound to, so that no row can stand in for another. */
export function binding(kind: string, scope: Scope, ...identity: (string | number)[]): string {
  return JSON.stringify([kind, scope.owner, scope.namespace, ...identity]);
}

/** The sealed row of one memory, and what it is bound to. */
interface SealedRow {
  readonly scope: Scope;
  readonly id: string;
  readonly version: number;
  readonly sealed: Uint8Array;
  /** Blob id recorded since the row was sealed, sealed itself. */
  readonly link: Uint8Array | null;
}

/** Seals and opens what single rows of an index hold. */
export class RowSeals {
  protected readonly sealer: Sealer;

  constructor(sealer: Sealer) {
    this.sealer = sealer;
  }

  /**
   * Seals one memory.
   *
   * @param kind What is kept of it; other kinds of the same memory do not open.
   * @throws {SvcError} `dimension_mismatch`.
   */
  sealRow(kind: string, entry: IndexEntry, dimensions: number): Uint8Array {
    const packed = packSegment([entry], dimensions);
    return this.sealer.seal(packed, binding(kind, entry, entry.id, entry.version));
  }

  /** Opens the row of one memory, without its vectors where these are outdated. */
  openRow(kind: string, row: SealedRow, isOutdated = false): Segment {
    const { scope, id, version, sealed, link } = row;
    const packed = this.sealer.open(sealed, binding(kind, scope, id, version));
    const links = new Map<string, string>();
    if (link !== null) links.set(id, this.openLink(scope, id, version, link));
    return new Segment(scope, packed, links, isOutdated);
  }

  /** Seals a blob id that became known after its memory was sealed. */
  sealLink(scope: Scope, id: string, version: number, blobId: string): Uint8Array {
    return this.sealer.seal(toColumn(blobId), binding("link", scope, id, version));
  }

  /** Opens such a blob id. */
  openLink(scope: Scope, id: string, version: number, link: Uint8Array): string {
    return fromColumn(this.sealer.open(link, binding("link", scope, id, version)));
  }
}
