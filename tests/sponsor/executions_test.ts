import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { SvcError } from "../../src/errors.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "../http/case.ts";
import { signature, sponsoring } from "./sponsoring.ts";

const LOST = new SvcError("sponsor_upstream_error");

Deno.test("only what this relayer sponsored in the last 10 minutes is executed", async () => {
  verifies("9.1-5");
  await using requests = await sponsoring();
  await using stranger = await sponsoring();
  const { body: { digest } } = await requests.ask();
  assertError(await stranger.execute(digest), [404, "sponsorship_not_found"]);
  assertError(await requests.execute("1".repeat(43)), [404, "sponsorship_not_found"]);
  requests.clock.advance(599_999);
  assert.equal((await requests.execute(digest)).status, 200);
  const { body: { digest: late } } = await requests.ask();
  requests.clock.advance(600_000);
  assertError(await requests.execute(late), [404, "sponsorship_not_found"]);
  assertError(await requests.execute(digest), [404, "sponsorship_not_found"]);
  assert.deepEqual(requests.sponsor.paid, [digest]);
  assert.equal(requests.sponsor.calls.execute, 1);
  assert.equal(stranger.sponsor.calls.execute, 0);
});

Deno.test("a repeated execute gets the same answer and pays nothing", async () => {
  verifies("9.1-5");
  await using requests = await sponsoring();
  const { body: { digest } } = await requests.ask();
  for (let i = 0; i < 3; i++) {
    const { status, body } = await requests.execute(digest, { signature: signature(i) });
    assert.deepEqual([status, body], [200, { digest }]);
  }
  assert.equal(requests.sponsor.calls.execute, 1);
});

Deno.test("of executes at the same time one is handed on", async () => {
  await using requests = await sponsoring();
  const { body: { digest } } = await requests.ask();
  const gate = Promise.withResolvers<void>();
  requests.sponsor.gate = gate.promise;
  const all = [requests.execute(digest), requests.execute(digest), requests.execute(digest)];
  gate.resolve();
  for (const { status } of await Promise.all(all)) assert.equal(status, 200);
  assert.equal(requests.sponsor.calls.execute, 1);
});

Deno.test("a stranger's wrong signature does not stand in the way of the right one", async () => {
  await using requests = await sponsoring();
  const { body: { digest } } = await requests.ask();
  const wrong = { signature: signature(0xff) };
  assertError(await requests.execute(digest, wrong), [400, "invalid_sponsor_signature"]);
  const gate = Promise.withResolvers<void>();
  requests.sponsor.gate = gate.promise;
  const both = [requests.execute(digest, wrong), requests.execute(digest)];
  gate.resolve();
  const [refused, taken] = await Promise.all(both);
  assert.deepEqual([refused?.status, taken?.status], [400, 200]);
  assert.deepEqual(requests.sponsor.paid, [digest]);
});

Deno.test("an answer that was lost is asked for again, and paid for once", async () => {
  await using requests = await sponsoring();
  const { body: { digest } } = await requests.ask();
  requests.sponsor.fail = { call: "execute", error: LOST, executed: true };
  assertError(await requests.execute(digest), [502, "sponsor_upstream_error"]);
  requests.sponsor.fail = undefined;
  assert.equal((await requests.execute(digest)).status, 200);
  assert.deepEqual(requests.sponsor.paid, [digest]);
  assert.equal((await requests.execute(digest)).status, 200);
  assert.equal(requests.sponsor.calls.execute, 2);
});

Deno.test("what may have been executed stays in the day's gas", async () => {
  await using requests = await sponsoring({ limits: { maxGasMist: 10, dailyGasMist: 25 } });
  requests.sponsor.budget = 10;
  const { body: { digest } } = await requests.ask();
  requests.sponsor.fail = { call: "execute", error: LOST };
  await requests.execute(digest);
  // A refusal now proves nothing about the first attempt.
  requests.sponsor.fail = { call: "execute", error: new SvcError("sponsor_rejected") };
  assertError(await requests.execute(digest), [400, "sponsor_rejected"]);
  requests.clock.advance(600_000);
  assert.equal((await requests.ask()).status, 200);
  assert.equal((await requests.ask()).body.code, "sponsor_budget_exhausted");
});

Deno.test("a refused execution frees its gas once it can be tried no longer", async () => {
  await using requests = await sponsoring({ limits: { maxGasMist: 10, dailyGasMist: 10 } });
  requests.sponsor.budget = 10;
  const { body: { digest } } = await requests.ask();
  assert.equal((await requests.execute(digest, { signature: signature(0xff) })).status, 400);
  assert.equal((await requests.ask()).body.code, "sponsor_budget_exhausted");
  requests.clock.advance(600_000);
  assert.equal((await requests.ask()).status, 200);
});

Deno.test("an execution that was not handed on counts no longer than it can be tried", async () => {
  await using requests = await sponsoring({ limits: { maxGasMist: 10, dailyGasMist: 650 } });
  requests.sponsor.budget = 10;
  const { body: { digest } } = await requests.ask();
  const gate = Promise.withResolvers<void>();
  requests.sponsor.sponsorGate = gate.promise;
  const asked = Array.from({ length: 64 }, () => requests.ask());
  while (requests.sponsor.calls.sponsor < 65) await setImmediate();
  assertError(await requests.execute(digest), [503, "sponsor_overloaded"]);
  gate.resolve();
  for (const { status } of await Promise.all(asked)) assert.equal(status, 200);
  assert.equal(requests.sponsor.calls.execute, 0);
  requests.clock.advance(600_000);
  for (let i = 0; i < 65; i++) assert.equal((await requests.ask()).status, 200);
});

Deno.test("what the sponsor has forgotten is gone, with its gas", async () => {
  await using requests = await sponsoring({ limits: { maxGasMist: 10, dailyGasMist: 10 } });
  requests.sponsor.budget = 10;
  const { body: { digest } } = await requests.ask();
  requests.sponsor.fail = { call: "execute", error: new SvcError("sponsorship_not_found") };
  assertError(await requests.execute(digest), [404, "sponsorship_not_found"]);
  requests.sponsor.fail = undefined;
  assertError(await requests.execute(digest), [404, "sponsorship_not_found"]);
  assert.equal((await requests.ask()).status, 200);
});

Deno.test("a restart forgets neither what was sponsored nor what was executed", async () => {
  verifies("9.1-5");
  const dataDir = await Deno.makeTempDir();
  try {
    await using first = await sponsoring({ dataDir });
    const executed = (await first.ask()).body.digest;
    const open = (await first.ask()).body.digest;
    const lost = (await first.ask()).body.digest;
    assert.equal((await first.execute(executed)).status, 200);
    const { sponsor } = first;
    sponsor.fail = { call: "execute", error: LOST, executed: true };
    assert.equal((await first.execute(lost)).status, 502);
    sponsor.fail = undefined;
    await first.svc.relayer[Symbol.asyncDispose]();
    await using second = await sponsoring({ dataDir, sponsor });
    for (const digest of [executed, open, lost]) {
      assert.equal((await second.execute(digest)).status, 200);
    }
    assert.deepEqual(sponsor.paid, [executed, lost, open]);
    assert.equal(sponsor.calls.execute, 4);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("the same transaction answered twice is one sponsorship", async () => {
  await using requests = await sponsoring();
  const { body } = await requests.ask();
  const bytes = Uint8Array.fromBase64(body.bytes);
  requests.sponsor.change = () => ({ bytes, digest: body.digest });
  assert.equal((await requests.ask()).status, 200);
  requests.sponsor.fail = { call: "execute", error: LOST };
  assert.equal((await requests.execute(body.digest)).status, 502);
  requests.clock.advance(599_999);
  // By a sponsor that was started anew, say.
  assert.equal((await requests.ask()).status, 200);
  requests.clock.advance(599_999);
  requests.sponsor.fail = undefined;
  assert.equal((await requests.execute(body.digest)).status, 200);
  assertError(await requests.ask(), [503, "sponsor_overloaded"]);
});
