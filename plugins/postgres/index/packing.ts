/** How the rows of a store are packed. */
export interface Packing {
  /** Length of the present model's vectors. */
  readonly dimensions: number;
  /** Number of the present model in the database. */
  readonly model: number;
  /** Memories of a segment. */
  readonly segmentSize: number;
}
