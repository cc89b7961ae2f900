import type { IndexEntry } from "../../src/interfaces/mod.ts";
import type { Sealer } from "../../src/interfaces/plugin.ts";
import { RowSeals } from "../shared/rows/row_seals.ts";

type SealedRow = Parameters<RowSeals["openRow"]>[1];

/** Seals what the store keeps of a memory. */
export class Packing extends RowSeals {
  readonly #dimensions: number;

  constructor(sealer: Sealer, dimensions: number) {
    super(sealer);
    this.#dimensions = dimensions;
  }

  /**
   * A whole memory, vectors included: waits in the catalogue.
   * @throws {SvcError} `dimension_mismatch`.
   */
  sealWhole(entry: IndexEntry): Uint8Array {
    return this.sealRow("whole", entry, this.#dimensions);
  }

  /** Opens {@linkcode Packing.sealWhole}. */
  openWhole(row: SealedRow): IndexEntry {
    return this.openRow("whole", row).copy(0);
  }

  /** A memory without its vectors, which the table holds in the clear. */
  sealRest(entry: IndexEntry): Uint8Array {
    return this.sealRow("rest", { ...entry, vectors: [] }, this.#dimensions);
  }

  /** Opens {@linkcode Packing.sealRest} and puts the vectors back. */
  openRest(row: SealedRow, vectors: readonly Float32Array[]): IndexEntry {
    return { ...this.openRow("rest", row).copy(0), vectors };
  }
}
