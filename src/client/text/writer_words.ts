import type { Memory } from "../results.ts";

/** Which key wrote a memory. */
export type Written = Pick<Memory, "written_by" | "written_by_label">;

/**
 * Which key wrote a memory, for people: its label, and the end of it. What has no label is of a key
 * that the account no longer lists, or of one that the asking key is not told of.
 *
 * @returns `undefined` where nobody knows.
 */
export function writerWords(
  { written_by: key, written_by_label: label = "" }: Written,
): string | undefined {
  if (key === undefined) return undefined;
  const end = `…${key.slice(-8)}`;
  return label === "" ? `key ${end}` : `${label} ${end}`;
}
