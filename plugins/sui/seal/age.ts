/**
 * Milliseconds since a moment; infinite when the clock was put back behind it, so that nothing stays
 * believed or open for as long as the clock was wrong.
 */
export function since(moment: number, now: number): number {
  return moment <= now ? now - moment : Infinity;
}
