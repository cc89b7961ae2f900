import assert from "node:assert/strict";
import { stepAt, waitFor } from "../../plugins/shared/window_steps.ts";

Deno.test("nobody waits longer than the window, at whatever fraction of a millisecond", () => {
  for (const seconds of [1, 7, 60, 3600]) {
    const window = { name: new Uint8Array(16), limit: 2, seconds };
    for (let i = 0; i < 5_000; i++) {
      const now = 1_700_000_000_000 + i * 0.37;
      const spent = [{ step: stepAt(now, seconds), weight: 2 }];
      const wait = waitFor(spent, window, 1, now);
      assert.ok(wait > 0 && wait <= seconds * 1000, `${wait} ms at ${now}`);
      assert.equal(waitFor(spent, window, 1, now + Math.ceil(wait)), 0);
    }
  }
});
