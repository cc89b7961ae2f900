import assert from "node:assert/strict";
import { memoryState } from "../../plugins/memory/state_store.ts";
import { SvcError } from "../../src/errors.ts";
import { SharedLimiter } from "../../src/http/limits/address_limits.ts";
import { RateLimiter } from "../../src/http/limits/rate_limit.ts";
import { RelayerKey } from "../../src/sealing/relayer_key.ts";
import { verifies } from "../requirements.ts";

const CHARGE = { layer: { name: "delegate_key", limit: 10, seconds: 60 }, key: "k", owner: "0x1" };

/** A limiter whose clock a test sets. */
function limiterAt(time: number) {
  const clock = { time };
  return { clock, limiter: new RateLimiter(() => clock.time) };
}

const isShut = (limiter: RateLimiter) => {
  try {
    limiter.spend([CHARGE], 1);
    return false;
  } catch {
    return true;
  }
};

Deno.test("a window goes on elsewhere as it was, and slides as it would have", () => {
  const { clock: there, limiter: first } = limiterAt(1_000_000_000);
  first.spend([CHARGE], 6);
  there.time += 30_000;
  first.spend([CHARGE], 4);
  const { clock: here, limiter: second } = limiterAt(there.time);
  second.goOn(CHARGE, first.noted(CHARGE)!);
  assert.ok(isShut(second));
  // Again what was counted here already: it is not counted twice.
  second.goOn(CHARGE, first.noted(CHARGE)!);
  here.time += 31_000;
  second.spend([CHARGE], 6);
  assert.ok(isShut(second));
  here.time += 61_000;
  assert.equal(second.noted(CHARGE), undefined);
});

Deno.test("a window of a relayer whose clock is ahead, or behind, is shut no longer than its length", () => {
  for (const away of [86_400_000, -2_000]) {
    const { limiter: first } = limiterAt(1_000_000_000 + away);
    first.spend([CHARGE], 10);
    const { clock, limiter: second } = limiterAt(1_000_000_000);
    second.goOn(CHARGE, first.noted(CHARGE)!);
    assert.ok(isShut(second), `${away}`);
    clock.time += 61_000;
    assert.ok(!isShut(second), `${away}`);
  }
});

Deno.test("who was refused by a shared window is refused without asking it again", async () => {
  verifies("7-15", "7-30");
  await using place = memoryState();
  await using store = place.open();
  let asked = 0;
  const names = new Set<string>();
  const limiter = new SharedLimiter({
    spend(windows, weight) {
      asked++;
      for (const { name } of windows) names.add(name.toHex());
      return store.windows.spend(windows, weight);
    },
  }, new RelayerKey(new Uint8Array(32).fill(7)).hmac("limits"));
  const layer = { name: "owner_ip", limit: 2, seconds: 60 };
  const charges = [{ layer, key: "v4 198.51.100.7" }];
  await limiter.spend(charges, 1);
  await limiter.spend(charges, 1);
  for (let again = 0; again < 5; again++) {
    const error = await limiter.spend(charges, 1).then(() => undefined, SvcError.from);
    const { code, retryAfter = 0 } = error!;
    assert.ok(code === "rate_limited" && retryAfter > 50 && retryAfter <= 60, `${retryAfter}`);
  }
  assert.equal(asked, 3);
  await limiter.spend([{ layer, key: "v4 198.51.100.8" }], 1);
  assert.deepEqual([...names].map((name) => name.length), [32, 32]);
  assert.ok(![...names].some((name) => name.includes(new TextEncoder().encode("198.51").toHex())));
});
