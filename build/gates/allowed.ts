/**
 * Functions that break a gate today, by file and name. The list only shrinks: an entry that is no
 * longer needed fails.
 */
export const ALLOWED: Readonly<Record<"lines" | "parameters", readonly string[]>> = {
  lines: [],
  parameters: [],
};
