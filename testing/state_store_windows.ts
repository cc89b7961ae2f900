import { deepStrictEqual, ok } from "node:assert/strict";
import { pause } from "../src/deadline.ts";
import type { StateStore, WindowLimit } from "../src/interfaces/mod.ts";
import { digestOf } from "./job_store.ts";
import { law } from "./law.ts";
import type { Case } from "./suite.ts";

/** Where windows are shared. */
interface WindowPlace extends AsyncDisposable {
  open(): Promise<StateStore> | StateStore;
}

const windowOf = (number: number, limit: number, seconds = 3600): WindowLimit => ({
  name: digestOf(number).subarray(0, 16),
  limit,
  seconds,
});

/** What is asked of the windows that openings share. */
export const WINDOW_CASES: readonly Case<WindowPlace>[] = [
  law("spends in all windows or in none, wherever that is", async (place: WindowPlace) => {
    await using one = await place.open();
    await using other = await place.open();
    const [large, small] = [windowOf(1, 3), windowOf(2, 2)];
    deepStrictEqual(await one.windows.spend([large], 2), []);
    deepStrictEqual(await other.windows.spend([large, small], 1), []);
    const [wait = 0, ...more] = await one.windows.spend([large], 1);
    ok(wait > 3_500_000 && wait <= 3_600_000, `${wait} ms`);
    deepStrictEqual(more, []);
    const waits = await other.windows.spend([small, large], 1);
    deepStrictEqual([waits.length, waits[0], waits[1]! > 0], [2, 0, true]);
    deepStrictEqual(await one.windows.spend([small], 1), []);
    ok((await other.windows.spend([small], 1))[0]! > 0);
    deepStrictEqual(await one.windows.spend([large], -1), []);
    deepStrictEqual(await other.windows.spend([large], 1), []);
  }),
  law("lets no more pass than the limit, whoever comes at once", async (place: WindowPlace) => {
    await using one = await place.open();
    await using other = await place.open();
    await using third = await place.open();
    const window = windowOf(3, 15);
    const asked = Array.from({ length: 36 }, (_, number) => {
      const { windows } = [one, other, third][number * 7 % 3]!;
      return windows.spend([window], 1);
    });
    const passed = (await Promise.all(asked)).filter((waits) => waits.length === 0);
    deepStrictEqual(passed.length, 15);
  }),
  law("lets pass again what a window lets go", async (place: WindowPlace) => {
    await using one = await place.open();
    const window = windowOf(4, 2, 1);
    await one.windows.spend([window], 2);
    const [wait = 0] = await one.windows.spend([window], 1);
    ok(wait > 0 && wait <= 1000, `${wait} ms`);
    await pause(wait + 20);
    deepStrictEqual(await one.windows.spend([window], 1), []);
  }),
];
