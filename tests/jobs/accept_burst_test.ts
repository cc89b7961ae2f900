import assert from "node:assert/strict";
import { mock } from "node:test";
import { AcceptBurst } from "../../src/jobs/accept_burst.ts";

Deno.test("accepts under way at once are a burst, and so are many in turn", () => {
  let now = 1_000;
  mock.method(performance, "now", () => now);
  try {
    const burst = new AcceptBurst();
    const underWay = [1, 2, 3].map(() => burst.accepting());
    assert.equal(burst.isOn, false);
    underWay.push(burst.accepting());
    assert.equal(burst.isOn, true);
    for (const accept of underWay) accept[Symbol.dispose]();
    now += 250;
    assert.equal(burst.isOn, false, "it is over a quarter of a second after the last of them");
    for (let i = 0; i < 9; i++) burst.accepting()[Symbol.dispose]();
    assert.equal(burst.isOn, false);
    now += 51;
    for (let i = 0; i < 9; i++) burst.accepting()[Symbol.dispose]();
    assert.equal(burst.isOn, false, "they were counted anew");
    burst.accepting()[Symbol.dispose]();
    assert.equal(burst.isOn, true);
  } finally {
    mock.restoreAll();
  }
});
