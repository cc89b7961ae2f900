import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "../http/case.ts";
import { NOON, sponsoring } from "./sponsoring.ts";
import { call, kind, SENDER } from "./kinds.ts";

const other = (n: number) => `0x${n.toString(16).padStart(64, "0")}`;
const limited = (layer: string, limit: string) => ({ layer, limit });

Deno.test("both routes count for one client address: per minute, per hour", async () => {
  verifies("7-24", "15-28");
  await using requests = await sponsoring({ limits: { perMinute: 4, perHour: 6 } });
  const ask = (n: number) => requests.ask({ sender: other(n) });
  const { body: { digest } } = await ask(1);
  assert.equal((await requests.execute(digest)).status, 200);
  assert.equal((await ask(2)).status, 200);
  // What is refused before it reaches a sponsor counts as well.
  assert.equal((await requests.ask({ sender: 5 })).status, 422);
  const denied = await ask(3);
  assertError(
    denied,
    [429, "rate_limited"],
    limited("sponsor_ip_burst", "4 weighted-requests/min"),
  );
  assert.equal(denied.headers.get("retry-after"), "60");
  assertError(await requests.execute(digest), [429, "rate_limited"], {
    ...limited("sponsor_ip_burst", "4 weighted-requests/min"),
  });
  // Another address is another client; one of the same IPv6 network is not.
  assert.equal((await requests.ask({ sender: other(4) }, "2001:db8::1")).status, 200);
  for (let n = 0; n < 3; n++) {
    assert.equal((await requests.ask({ sender: other(5 + n) }, `2001:db8::${n}`)).status, 200);
  }
  assert.equal((await requests.ask({ sender: other(9) }, "2001:db8::ffff")).status, 429);
  requests.clock.advance(60_000);
  assert.equal((await ask(10)).status, 200);
  assert.equal((await ask(11)).status, 200);
  assertError(
    await ask(12),
    [429, "rate_limited"],
    limited("sponsor_ip_sustained", "6 weighted-requests/hour"),
  );
  const { text } = await requests.svc.plain("GET", "/metrics");
  assert.match(text, /svc_rate_limit_denials_total\{layer="sponsor_ip_burst"\} 3/);
  assert.ok(!text.includes(SENDER.slice(2)));
});

Deno.test("both routes count for the sender, whoever asks; the recorded one at execute", async () => {
  await using requests = await sponsoring({ limits: { perMinute: 3, perHour: 5 } });
  const peer = (n: number) => `10.0.0.${n}`;
  const { body: { digest } } = await requests.ask({}, peer(1));
  assert.equal((await requests.ask({}, peer(2))).status, 200);
  // Another sender's name does not help.
  assert.equal((await requests.execute(digest, { sender: other(1) }, peer(3))).status, 200);
  assertError(
    await requests.execute(digest, { sender: other(2) }, peer(4)),
    [429, "rate_limited"],
    limited("sponsor_sender", "3 weighted-requests/min"),
  );
  assertError(
    await requests.ask({}, peer(4)),
    [429, "rate_limited"],
    limited("sponsor_sender", "3 weighted-requests/min"),
  );
  // Nor do other spellings.
  assert.equal(
    (await requests.ask({ sender: SENDER.toUpperCase().replace("X", "x") })).status,
    429,
  );
  requests.clock.advance(60_000);
  assert.equal((await requests.ask({}, peer(5))).status, 200);
  assert.equal((await requests.ask({}, peer(6))).status, 200);
  assertError(
    await requests.ask({}, peer(7)),
    [429, "rate_limited"],
    limited("sponsor_sender", "5 weighted-requests/hour"),
  );
});

Deno.test("a request the sender's layer denies consumes nothing of the address's", async () => {
  await using requests = await sponsoring({ limits: { perMinute: 2, perHour: 100 } });
  await requests.ask({}, "10.0.0.1");
  await requests.ask({}, "10.0.0.2");
  for (let n = 0; n < 5; n++) assert.equal((await requests.ask({}, "10.0.0.3")).status, 429);
  assert.equal((await requests.ask({ sender: other(1) }, "10.0.0.3")).status, 200);
  assert.equal((await requests.ask({ sender: other(2) }, "10.0.0.3")).status, 200);
  assert.equal((await requests.ask({ sender: other(3) }, "10.0.0.3")).status, 429);
});

Deno.test("checks are made in order", async () => {
  verifies("9.1-6");
  await using requests = await sponsoring({
    limits: { perMinute: 5, perHour: 100, dailyGasMist: 1 },
  });
  const wrong = kind([call({ module: "x" })]).toBase64();
  // Every later check would fail as well.
  const field = { field: "sender" };
  assertError(await requests.ask({ sender: "x", transactionBlockKindBytes: wrong }), [
    400,
    "invalid_sender",
  ], field);
  assertError(await requests.ask({ transactionBlockKindBytes: wrong }), [
    403,
    "move_call_not_allowed",
  ], { field: "transactionBlockKindBytes" });
  assert.equal((await requests.ask()).body.code, "sponsor_budget_exhausted");
  for (let n = 1; n < 5; n++) await requests.ask({}, `10.0.0.${n}`);
  const denied = (await requests.ask({}, "10.0.0.9")).body;
  assert.deepEqual([denied.code, denied.layer], ["rate_limited", "sponsor_sender"]);
  await requests.ask({ sender: other(1) });
  await requests.ask({ sender: other(2) });
  const burst = await requests.svc.plain("POST", "/sponsor", "{");
  assert.deepEqual([burst.body.code, burst.body.layer], ["rate_limited", "sponsor_ip_burst"]);
  assert.equal(requests.sponsor.calls.sponsor, 0);
});

Deno.test("a day's gas: held while open, settled at execute, free again at 00:00 UTC", async () => {
  verifies("15-28");
  const limits = { maxGasMist: 10_000_000, dailyGasMist: 20_000_000 };
  await using requests = await sponsoring({ limits });
  requests.sponsor.budget = 6_000_000;
  requests.sponsor.cost = 1_000_000;
  const first = await requests.ask();
  // 14,000,000 are left, then 8,000,000: less than the next one may cost.
  assert.equal((await requests.ask()).status, 200);
  const refused = await requests.ask();
  assertError(refused, [503, "sponsor_budget_exhausted"]);
  assert.equal(refused.headers.get("retry-after"), String(12 * 3600));
  // Executed for 1,000,000: 13,000,000 are left.
  assert.equal((await requests.execute(first.body.digest)).status, 200);
  const third = await requests.ask();
  assert.equal(third.status, 200);
  assert.equal((await requests.ask()).status, 503);
  // Nobody executed two of them in time.
  requests.clock.advance(599_999);
  assert.equal((await requests.ask()).status, 503);
  requests.clock.advance(1);
  assert.equal((await requests.ask()).status, 200);
  assert.equal((await requests.ask()).status, 200);
  assert.equal((await requests.ask()).status, 503);
  requests.clock.freeze(NOON + 12 * 3_600_000 - 1);
  requests.sponsor.budget = 10_000_000;
  requests.sponsor.cost = undefined;
  const late = (await requests.ask()).body.digest;
  assert.equal((await requests.ask()).body.code, "sponsor_budget_exhausted");
  assert.equal((await requests.ask()).headers.get("retry-after"), "1");
  // The next day has its own; what is executed in it counts for it, whenever it was answered.
  requests.clock.advance(1);
  assert.equal((await requests.execute(late)).status, 200);
  assert.equal((await requests.ask()).status, 200);
  assert.equal((await requests.ask()).body.code, "sponsor_budget_exhausted");
});

Deno.test("no more is paid in a day than its gas, whenever it was answered", async () => {
  await using requests = await sponsoring({ limits: { maxGasMist: 10, dailyGasMist: 30 } });
  requests.sponsor.budget = 10;
  requests.sponsor.cost = 10;
  requests.clock.advance(12 * 3_600_000 - 300_000);
  const [executed, lost] = [(await requests.ask()).body.digest, (await requests.ask()).body.digest];
  const open = (await requests.ask()).body.digest;
  assert.equal((await requests.ask()).body.code, "sponsor_budget_exhausted");
  assert.equal((await requests.execute(executed)).status, 200);
  requests.sponsor.fail = { call: "execute", error: new SvcError("sponsor_upstream_error") };
  assert.equal((await requests.execute(lost)).status, 502);
  requests.sponsor.fail = undefined;
  // After midnight two of them can still be executed: one is left.
  requests.clock.advance(300_000);
  assert.equal((await requests.ask()).status, 200);
  assert.equal((await requests.ask()).body.code, "sponsor_budget_exhausted");
  assert.equal((await requests.execute(open)).status, 200);
  assert.equal((await requests.execute(lost)).status, 200);
  requests.clock.advance(600_000);
  assert.equal((await requests.ask()).status, 200);
  assert.equal((await requests.ask()).body.code, "sponsor_budget_exhausted");
});

Deno.test("what was handed on without an answer counts for that day alone", async () => {
  await using requests = await sponsoring({ limits: { maxGasMist: 10, dailyGasMist: 10 } });
  requests.sponsor.budget = 10;
  const { body: { digest } } = await requests.ask();
  requests.sponsor.fail = { call: "execute", error: new SvcError("sponsor_upstream_error") };
  assert.equal((await requests.execute(digest)).status, 502);
  requests.clock.advance(12 * 3_600_000 - 1);
  assert.equal((await requests.ask()).body.code, "sponsor_budget_exhausted");
  requests.clock.advance(1);
  assert.equal((await requests.ask()).status, 200);
});

Deno.test("what others hold only for the moment is no exhausted budget", async () => {
  await using requests = await sponsoring({ limits: { maxGasMist: 10, dailyGasMist: 25 } });
  requests.sponsor.budget = 5;
  const gate = Promise.withResolvers<void>();
  requests.sponsor.sponsorGate = gate.promise;
  const two = [requests.ask(), requests.ask()];
  const third = await requests.ask();
  assertError(third, [503, "sponsor_overloaded"]);
  gate.resolve();
  for (const answer of await Promise.all(two)) assert.equal(answer.status, 200);
  assert.equal((await requests.ask()).status, 200);
  assert.equal((await requests.ask()).status, 200);
  // A refusal of the sponsor gives back what was held.
  assert.equal((await requests.ask()).body.code, "sponsor_budget_exhausted");
});

Deno.test("a restart does not reset a day's gas", async () => {
  const dataDir = await Deno.makeTempDir();
  try {
    const limits = { maxGasMist: 10_000_000, dailyGasMist: 20_000_000 };
    {
      await using requests = await sponsoring({ limits, dataDir });
      requests.sponsor.budget = 6_000_000;
      requests.sponsor.cost = 6_000_000;
      const { body: { digest } } = await requests.ask();
      await requests.execute(digest);
      await requests.ask();
      assert.equal((await requests.ask()).status, 503);
    }
    await using requests = await sponsoring({ limits, dataDir });
    assert.equal((await requests.ask()).body.code, "sponsor_budget_exhausted");
    requests.clock.advance(12 * 3_600_000);
    assert.equal((await requests.ask()).status, 200);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
