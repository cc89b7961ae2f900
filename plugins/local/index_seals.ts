import type { IndexEntry, Scope } from "../../src/interfaces/mod.ts";
import type { Sealer } from "../../src/interfaces/plugin.ts";
import { binding, RowSeals } from "../shared/rows/row_seals.ts";
import { packSegment, type Segment } from "../shared/rows/segment.ts";

/** Seals and opens what rows of `index.db` hold. */
export class IndexSeals extends RowSeals {
  readonly #model: number;

  /** `model` is the number of the present model in the file. */
  constructor(sealer: Sealer, model: number) {
    super(sealer);
    this.#model = model;
  }

  /** Whether vectors are of another model than the present one. */
  isOutdated(model: number): boolean {
    return model !== this.#model;
  }

  /** Opens the single row of one memory, whose vectors are of the model with this number. */
  openSingle(row: Parameters<RowSeals["openRow"]>[1], model: number): Segment {
    return this.openRow("entry", row, this.isOutdated(model));
  }

  /** Packs and seals memories of a segment. */
  sealSegment(
    seq: number,
    scope: Scope,
    entries: readonly IndexEntry[],
    dimensions: number,
  ): Uint8Array {
    return this.sealer.seal(packSegment(entries, dimensions), binding("segment", scope, seq));
  }

  /** As `sealSegment`, on the thread pool. */
  async sealSegmentLater(
    seq: number,
    scope: Scope,
    entries: readonly IndexEntry[],
    dimensions: number,
  ): Promise<Uint8Array> {
    const packed = packSegment(entries, dimensions);
    return await this.sealer.sealLarge(packed, binding("segment", scope, seq));
  }

  openSegment(seq: number, scope: Scope, sealed: Uint8Array): Uint8Array {
    return this.sealer.open(sealed, binding("segment", scope, seq));
  }

  /** As `openSegment`, on the thread pool. */
  async openSegmentLater(seq: number, scope: Scope, sealed: Uint8Array): Promise<Uint8Array> {
    return await this.sealer.openLarge(sealed, binding("segment", scope, seq));
  }
}
