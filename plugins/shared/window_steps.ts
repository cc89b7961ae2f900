import type { WindowLimit } from "../../src/interfaces/mod.ts";

/** Steps of a window: in each of them what was spent in one before leaves it. */
export const WINDOW_STEPS = 60;

/** What was spent in a step. */
export interface Spent {
  /** Number of the step, from the epoch. */
  readonly step: number;
  readonly weight: number;
}

/** Milliseconds until a weight would pass; 0 when it does. @param now Milliseconds since the epoch. */
export function waitFor(
  spent: readonly Spent[],
  { limit, seconds }: WindowLimit,
  weight: number,
  now: number,
): number {
  const length = seconds * 1000 / WINDOW_STEPS;
  const present = Math.floor(now / length);
  const live = spent.filter(({ step }) => step > present - WINDOW_STEPS)
    .sort((a, b) => a.step - b.step);
  let over = live.reduce((sum, one) => sum + one.weight, weight - limit);
  for (const { step, weight: leaving } of live) {
    if (over <= 0) break;
    over -= leaving;
    if (over <= 0) return (step + WINDOW_STEPS) * length - now;
  }
  return 0;
}
