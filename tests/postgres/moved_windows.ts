import type { Statements } from "../../plugins/postgres/statements.ts";
import { stepAt } from "../../plugins/shared/window_steps.ts";
import type { SharedWindows } from "../../src/interfaces/mod.ts";

const MOVE = `update svc.spent set steps = array(
  select step - $2::bigint from unnest(steps) with ordinality as of(step, place) order by place)
  where name = $1`;

/**
 * Windows in a database, whose clock no test can move: what was spent there goes back by as much as
 * the test's clock was moved forward.
 *
 * @param moved Milliseconds by which that was so far.
 */
export function movedWindows(
  windows: SharedWindows,
  statements: Statements,
  moved: () => number,
): SharedWindows {
  /** Steps by which a window has been moved. */
  const done = new Map<string, number>();
  return {
    async spend(given, weight) {
      for (const { name, seconds } of given) {
        const steps = stepAt(moved(), seconds);
        const by = steps - (done.get(name.toHex()) ?? steps);
        done.set(name.toHex(), steps);
        if (by > 0) await statements.all(MOVE, name, by);
      }
      return await windows.spend(given, weight);
    },
  };
}
