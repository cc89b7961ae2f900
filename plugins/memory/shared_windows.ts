import type { SharedWindows, WindowLimit } from "../../src/interfaces/mod.ts";
import { type Spent, stepAt, waitFor, WINDOW_STEPS } from "../shared/window_steps.ts";
import type { Gate } from "./gate.ts";

/** What was spent, by the name of the window. */
export type SpentWindows = Map<string, Spent[]>;

/** Windows in a map that several openings share. */
export function sharedWindows(spent: SpentWindows, gate: Gate): SharedWindows {
  const of = ({ name }: WindowLimit) => spent.getOrInsertComputed(name.toHex(), () => []);
  return {
    async spend(windows, weight) {
      await gate.pass();
      const now = Date.now();
      const waits = windows.map((window) => waitFor(of(window), window, weight, now));
      if (waits.some((wait) => wait > 0)) return waits;
      for (const window of windows) {
        const step = stepAt(now, window.seconds);
        const live = of(window).filter((one) => one.step > step - WINDOW_STEPS);
        spent.set(window.name.toHex(), [...live, { step, weight }]);
      }
      return [];
    },
  };
}
