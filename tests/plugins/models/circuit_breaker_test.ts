import assert from "node:assert/strict";
import { CircuitBreaker } from "../../../plugins/shared/circuit_breaker.ts";
import { UpstreamFailure } from "../../../plugins/shared/upstream_failure.ts";
import { verifies } from "../../requirements.ts";

const failure = (retryAfter?: number) => new UpstreamFailure("It does not work", { retryAfter });

function breaker() {
  const clock = { now: 0 };
  const options = { failures: 3, pauseMs: 1000, maxPauseMs: 60_000, now: () => clock.now };
  return { clock, breaker: new CircuitBreaker("llm_unavailable", options) };
}

Deno.test("calls that fail together are one outage, and make one pause", () => {
  const { clock, breaker: guard } = breaker();
  const calls = Array.from({ length: 20 }, () => guard.enter());
  for (const call of calls) guard.fail(call, failure());
  assert.equal(guard.health.status, "down");
  assert.throws(() => guard.enter(), { retryAfter: 1 });
  clock.now += 1000;
  const probe = guard.enter();
  assert.throws(() => guard.enter());
  guard.fail(probe, failure());
  assert.throws(() => guard.enter(), { retryAfter: 2 });
});

Deno.test("a call from before a pause does not end the pause that the server asked for", () => {
  verifies("15-41");
  const { clock, breaker: guard } = breaker();
  const [early, late] = [guard.enter(), guard.enter()];
  guard.fail(early, failure(7));
  guard.succeed(late);
  assert.throws(() => guard.enter(), { retryAfter: 7 });
  clock.now += 7000;
  guard.succeed(guard.enter());
  assert.equal(guard.health.status, "ok");
});

Deno.test("a call from before a pause lets no second probe through, and may ask for more", () => {
  const { clock, breaker: guard } = breaker();
  const calls = Array.from({ length: 6 }, () => guard.enter());
  for (const call of calls.slice(0, 3)) guard.fail(call, failure());
  clock.now += 1000;
  const probe = guard.enter();
  guard.leave(calls[3]!);
  assert.throws(() => guard.enter());
  guard.fail(calls[4]!, failure(9));
  guard.succeed(calls[5]!);
  assert.throws(() => guard.enter(), { retryAfter: 9 });
  guard.succeed(probe);
  guard.enter();
});

Deno.test("a clock that is put back makes no pause longer", () => {
  const { clock, breaker: guard } = breaker();
  clock.now = 86_400_000;
  guard.fail(guard.enter(), failure(7));
  assert.throws(() => guard.enter(), { retryAfter: 7 });
  clock.now = 0;
  guard.fail(guard.enter(), failure(2));
  assert.throws(() => guard.enter(), { retryAfter: 2 });
  clock.now += 2000;
  guard.succeed(guard.enter());
});
