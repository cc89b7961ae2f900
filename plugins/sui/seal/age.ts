/**
 * Milliseconds since a moment; without end where the clock was put back behind it, so that nothing
 * is believed, kept open or left alone for as long as a clock was wrong.
 */
export function since(moment: number, now: number): number {
  return moment <= now ? now - moment : Infinity;
}
