/** Edits (insert, delete, replace, swap of neighbours) that turn one word into the other. */
export function editDistance(a: string, b: string): number {
  // Optimal string alignment: three rows of the dynamic program suffice.
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) cost = Math.min(cost, before[j - 2]! + 1);
      next.push(cost);
    }
    before = row;
    row = next;
  }
  return row[b.length]!;
}

/** The known word closest to a misspelt one, when it is close enough to be meant. */
export function suggest(word: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  // A third of the letters may be wrong; more is another word.
  let least = Math.floor(word.length / 3) + 1;
  for (const candidate of known) {
    const distance = editDistance(word, candidate);
    if (distance < least) [least, best] = [distance, candidate];
  }
  return best;
}
