/** Most columns of a quilt that its index may take. */
export const MAX_INDEX_COLUMNS = 10;

/** Longest symbol in bytes: its length has 16 bits and is even. */
export const MAX_SYMBOL_BYTES = 65_534;

/** Bytes of a Merkle digest, and of a blob id. */
const DIGEST_BYTES = 32;

/**
 * Rows and columns of the matrix of symbols in which a blob is laid out, row by row. Of `n` shards `f = floor((n - 1) / 3)` may be faulty:
 * `n - 2f` rows (primary) and `n - f` columns (secondary). RS2 encoding, Walrus' only one.
 */
export function sourceSymbols(shards: number): { rows: number; columns: number } {
  const faulty = Math.floor((shards - 1) / 3);
  return { rows: shards - 2 * faulty, columns: shards - faulty };
}

/**
 * Bytes that a blob of `bytes` takes on Walrus, which is what is paid for: the slivers of every
 * shard, and with every shard the metadata (two digests for each of the shards, and the id).
 */
export function encodedBytes(bytes: number, shards: number): number {
  const { rows, columns } = sourceSymbols(shards);
  const needed = Math.ceil(Math.max(bytes, 1) / (rows * columns));
  // A symbol has the smallest even number of bytes that suffices.
  const slivers = (rows + columns) * (needed + needed % 2) * shards;
  return slivers + shards * (shards * 2 * DIGEST_BYTES + DIGEST_BYTES);
}

/** Bytes of an identifier of ours, and of its length in BCS. */
const IDENTIFIER = 9;

/** Bytes of a patch in front of its content: header (6), length of the identifier (2), identifier. */
const PATCH_PREFIX = 8 + IDENTIFIER;

/** Bytes of a patch in the index: its end (2), its identifier and an empty list of tags (1). */
const INDEX_ENTRY = 3 + IDENTIFIER;

/**
 * Bytes of a quilt of patches with contents of some bytes, or `undefined` when they do not fit into
 * one. The index, at most {@linkcode MAX_INDEX_COLUMNS}, and then each patch take columns of their
 * own, as many as their bytes need. The symbol is the shortest with which the columns suffice.
 */
export function quiltBytes(contents: readonly number[], shards: number): number | undefined {
  const { rows, columns } = sourceSymbols(shards);
  // In front of its patches the index has a version (1), its length (4), and their number in BCS.
  const index = (contents.length < 128 ? 6 : 7) + contents.length * INDEX_ENTRY;
  const parts = contents.map((bytes) => PATCH_PREFIX + bytes);
  if (parts.length >= columns) return undefined;
  const fits = (symbol: number): boolean => {
    const column = symbol * rows;
    const taken = Math.ceil(index / column);
    if (taken > MAX_INDEX_COLUMNS) return false;
    return parts.reduce((sum, part) => sum + Math.ceil(part / column), taken) <= columns;
  };
  if (!fits(MAX_SYMBOL_BYTES)) return undefined;
  let [low, high] = [1, MAX_SYMBOL_BYTES / 2];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle * 2)) high = middle;
    else low = middle + 1;
  }
  return low * 2 * rows * columns;
}
