import type { SharedWindows, WindowLimit } from "../../../src/interfaces/mod.ts";
import { SvcError } from "../../../src/errors.ts";
import { waitFor, WINDOW_STEPS } from "../../shared/window_steps.ts";
import type { DatabaseShare } from "../shared_database.ts";
import type { Statements } from "../statements.ts";

/** How often what is over is removed, by the clock of `performance`, milliseconds. */
const SWEEP_MS = 60_000;

/**
 * Spends in one statement: whoever comes at the same moment waits for the row and sees what this one
 * added. Steps are those of the server's clock.
 */
const SPEND = `
  insert into svc.spent as s (name, ends, steps, weights)
  select $1, c.now + $3 * 1000, array[floor(c.now * ${WINDOW_STEPS} / ($3 * 1000))::bigint], array[$2]
  from (select extract(epoch from clock_timestamp())::double precision * 1000 as now,
    $2::double precision as weight, $3::double precision as seconds) c
  on conflict (name) do update set ends = excluded.ends, (steps, weights) = (
    select array_agg(u.step), array_agg(u.weight) from (
      select l.step, sum(l.weight) as weight from (
        select * from unnest(s.steps, s.weights) as o(step, weight)
        union all select excluded.steps[1], excluded.weights[1]) as l
      where l.step > excluded.steps[1] - ${WINDOW_STEPS} group by l.step) as u)
  where (select coalesce(sum(o.weight), 0) from unnest(s.steps, s.weights) as o(step, weight)
    where o.step > excluded.steps[1] - ${WINDOW_STEPS}) + excluded.weights[1] <= $4
  returning 1 as spent`;

/** Windows in a table that the server does not log: it may be empty after a crash. */
export class PostgresWindows implements SharedWindows {
  readonly #share: DatabaseShare;
  #sweptAt = performance.now();

  constructor(share: DatabaseShare) {
    this.#share = share;
  }

  async spend(windows: readonly WindowLimit[], weight: number): Promise<readonly number[]> {
    this.#share.check(undefined);
    const { database } = this.#share;
    this.#sweep();
    const [window, ...others] = windows;
    if (window === undefined) return [];
    if (others.length === 0) {
      if (await spendIn(database, window, weight)) return [];
      return refused([await this.#wait(window, weight)]);
    }
    // All of them lock in one order.
    const sorted = [...windows].sort((a, b) => a.name.toHex() < b.name.toHex() ? -1 : 1);
    try {
      await database.transaction(async (statements) => {
        for (const one of sorted) {
          if (!await spendIn(statements, one, weight)) throw new SvcError("rate_limited");
        }
      });
      return [];
    } catch (error) {
      if (SvcError.from(error).code !== "rate_limited") throw error;
      const waits = await Promise.all(windows.map((one) => this.#wait(one, weight)));
      return refused(waits);
    }
  }

  async #wait(window: WindowLimit, weight: number): Promise<number> {
    const row = await this.#share.database.get<{
      readonly steps: readonly string[];
      readonly weights: readonly number[];
      readonly now: number;
    }>(
      `select steps, weights, extract(epoch from clock_timestamp())::double precision * 1000 as now
       from svc.spent where name = $1`,
      window.name,
    );
    const { steps = [], weights = [], now = Date.now() } = row ?? {};
    const spent = steps.map((step, i) => ({ step: Number(step), weight: weights[i]! }));
    return waitFor(spent, window, weight, now);
  }

  /** Removes what is over; another time where that fails. */
  #sweep(): void {
    if (performance.now() - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = performance.now();
    const sql = "delete from svc.spent where ends < extract(epoch from clock_timestamp()) * 1000";
    this.#share.database.all(sql).catch(() => {});
  }
}

/** They may have room by now: who was refused comes again in a moment all the same. */
function refused(waits: readonly number[]): readonly number[] {
  return waits.some((wait) => wait > 0) ? waits : waits.map(() => 1);
}

async function spendIn(
  statements: Statements,
  { name, limit, seconds }: WindowLimit,
  weight: number,
): Promise<boolean> {
  return await statements.get(SPEND, name, weight, seconds, limit) !== undefined;
}
