import type { IndexEntry, Scope } from "../../../src/interfaces/mod.ts";
import type { Sealer } from "../../../src/interfaces/plugin.ts";
import { binding, RowSeals } from "../../shared/rows/row_seals.ts";
import { packSegment, Segment } from "../../shared/rows/segment.ts";

/** A sealed segment as it lies in the database. */
export interface SealedSegment {
  readonly id: number;
  readonly model: number;
  readonly sealed: Uint8Array;
}

/** Seals and opens what rows of the index hold. */
export class Seals extends RowSeals {
  readonly #model: number;

  /** `model` is the number of the present model in the database. */
  constructor(sealer: Sealer, model: number) {
    super(sealer);
    this.#model = model;
  }

  /** Opens the single row of one memory, whose vectors are of the model with this number. */
  openSingle(row: Parameters<RowSeals["openRow"]>[1], model: number): Segment {
    return this.openRow("entry", row, model !== this.#model);
  }

  /** Packs and seals memories of a segment, on the thread pool. */
  async sealSegment(
    id: number,
    scope: Scope,
    entries: readonly IndexEntry[],
    dimensions: number,
  ): Promise<Uint8Array> {
    const packed = packSegment(entries, dimensions);
    return await this.sealer.sealLarge(packed, binding("segment", scope, id));
  }

  /**
   * Opens a segment, on the thread pool; without its vectors where these are of another model.
   *
   * @param links Blob ids by memory id that were recorded after packing.
   */
  async openSegment(
    scope: Scope,
    segment: SealedSegment,
    links?: ReadonlyMap<string, string>,
  ): Promise<Segment> {
    const { id, model, sealed } = segment;
    return this.segmentOf(scope, await this.openPacked(scope, id, sealed), model, links);
  }

  /** Opens what a segment holds, on the thread pool. */
  openPacked(scope: Scope, id: number, sealed: Uint8Array): Promise<Uint8Array> {
    return this.sealer.openLarge(sealed, binding("segment", scope, id));
  }

  /** A segment of what was opened; without its vectors where these are of another model. */
  segmentOf(
    scope: Scope,
    packed: Uint8Array,
    model: number,
    links?: ReadonlyMap<string, string>,
  ): Segment {
    return new Segment(scope, packed, links, model !== this.#model);
  }

  /** As `openSegment`, with the vectors of whatever model. */
  async openWhole(
    scope: Scope,
    { id, sealed }: SealedSegment,
    links: ReadonlyMap<string, string>,
  ): Promise<Segment> {
    return new Segment(scope, await this.openPacked(scope, id, sealed), links);
  }
}
