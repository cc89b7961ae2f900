import { WINDOW_TOKENS } from "./windows.ts";
import type { HeapRegions } from "./heap_regions.ts";

/** The kernel overruns short matrices up to this many rows. */
const SPARE_ROWS = 6;

/** Offsets of the intermediate values of one run; two runs at a time need two. */
export interface Scratch {
  /** Most tokens of one pass. */
  readonly rows: number;
  /** Residual stream, 512 wide. */
  readonly stream: number;
  /** Normalised stream, then attended values, 512 wide. */
  readonly normed: number;
  /** Result to be added to the stream, 512 wide. */
  readonly delta: number;
  /** Queries, keys and values, or the feed-forward net's inner layer, 1536 wide. */
  readonly wide: number;
  /** Keys or values of one head, packed. */
  readonly packed: number;
  readonly attention: number;
  readonly zeros: number;
}

/** Number of floats of a {@linkcode Scratch}, at most. */
export function scratchFloats(rows: number): number {
  return (rows + SPARE_ROWS) * (3 * 512 + 1536) + 2 * WINDOW_TOKENS ** 2 + WINDOW_TOKENS + 7 * 16;
}

/** Reserves a scratch area for passes of up to `rows` tokens. */
export function takeScratch(regions: HeapRegions, rows: number): Scratch {
  const matrix = (width: number) => regions.take((rows + SPARE_ROWS) * width);
  return {
    rows,
    stream: matrix(512),
    normed: matrix(512),
    delta: matrix(512),
    wide: matrix(1536),
    packed: regions.take(WINDOW_TOKENS ** 2),
    attention: regions.take(WINDOW_TOKENS ** 2),
    zeros: regions.take(WINDOW_TOKENS),
  };
}
