import type { WindowLimit } from "../../src/interfaces/mod.ts";

/** Steps of a window: in each of them what was spent in one before leaves it. */
export const WINDOW_STEPS = 60;

/** What was spent in a step. */
export interface Spent {
  /** Number of the step, from the epoch. */
  readonly step: number;
  readonly weight: number;
}

/** Number of the step at a moment. @param now Milliseconds since the epoch. */
export function stepAt(now: number, seconds: number): number {
  return Math.floor(now * WINDOW_STEPS / (seconds * 1000));
}

/** Milliseconds until a weight would pass; 0 when it does. @param now Milliseconds since the epoch. */
export function waitFor(
  spent: readonly Spent[],
  { limit, seconds }: WindowLimit,
  weight: number,
  now: number,
): number {
  const window = seconds * 1000;
  const present = stepAt(now, seconds);
  const live = spent.filter(({ step }) => step > present - WINDOW_STEPS)
    .sort((a, b) => a.step - b.step);
  let over = live.reduce((sum, one) => sum + one.weight, weight - limit);
  for (const { step, weight: leaving } of live) {
    if (over <= 0) break;
    over -= leaving;
    // Fractions are rounded at the size of the epoch, which may exceed the window by a little.
    if (over <= 0) return Math.min(window, (step + WINDOW_STEPS) * window / WINDOW_STEPS - now);
  }
  return 0;
}
