/** Number of single-character edits between two words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}

/** ` Did you mean "…"?` for the closest word, or nothing when none is close. */
export function suggestion(word: string, words: readonly string[]): string {
  if (word.length > 64) return "";
  const [best] = words
    .map((candidate) => ({ candidate, edits: distance(word, candidate) }))
    .sort((a, b) => a.edits - b.edits);
  if (best === undefined || best.edits > Math.max(2, word.length / 3)) return "";
  return ` Did you mean "${best.candidate}"?`;
}
