import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { SvcError } from "../../src/errors.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "../http/case.ts";
import { signature, sponsoring } from "./desk.ts";

const LOST = new SvcError("sponsor_upstream_error");

Deno.test("only what this relayer sponsored in the last 10 minutes is executed", async () => {
  verifies("9.1-5");
  await using desk = await sponsoring();
  await using stranger = await sponsoring();
  const { body: { digest } } = await desk.ask();
  assertError(await stranger.execute(digest), [404, "sponsorship_not_found"]);
  assertError(await desk.execute("1".repeat(43)), [404, "sponsorship_not_found"]);
  desk.clock.advance(599_999);
  assert.equal((await desk.execute(digest)).status, 200);
  const { body: { digest: late } } = await desk.ask();
  desk.clock.advance(600_000);
  assertError(await desk.execute(late), [404, "sponsorship_not_found"]);
  assertError(await desk.execute(digest), [404, "sponsorship_not_found"]);
  assert.deepEqual(desk.sponsor.paid, [digest]);
  assert.equal(desk.sponsor.calls.execute, 1);
  assert.equal(stranger.sponsor.calls.execute, 0);
});

Deno.test("a repeated execute gets the same answer and pays nothing", async () => {
  verifies("9.1-5");
  await using desk = await sponsoring();
  const { body: { digest } } = await desk.ask();
  for (let i = 0; i < 3; i++) {
    const { status, body } = await desk.execute(digest, { signature: signature(i) });
    assert.deepEqual([status, body], [200, { digest }]);
  }
  assert.equal(desk.sponsor.calls.execute, 1);
});

Deno.test("of executes at the same time one is handed on", async () => {
  await using desk = await sponsoring();
  const { body: { digest } } = await desk.ask();
  const gate = Promise.withResolvers<void>();
  desk.sponsor.gate = gate.promise;
  const all = [desk.execute(digest), desk.execute(digest), desk.execute(digest)];
  gate.resolve();
  for (const { status } of await Promise.all(all)) assert.equal(status, 200);
  assert.equal(desk.sponsor.calls.execute, 1);
});

Deno.test("a stranger's wrong signature does not stand in the way of the right one", async () => {
  await using desk = await sponsoring();
  const { body: { digest } } = await desk.ask();
  const wrong = { signature: signature(0xff) };
  assertError(await desk.execute(digest, wrong), [400, "invalid_sponsor_signature"]);
  const gate = Promise.withResolvers<void>();
  desk.sponsor.gate = gate.promise;
  const both = [desk.execute(digest, wrong), desk.execute(digest)];
  gate.resolve();
  const [refused, taken] = await Promise.all(both);
  assert.deepEqual([refused?.status, taken?.status], [400, 200]);
  assert.deepEqual(desk.sponsor.paid, [digest]);
});

Deno.test("an answer that was lost is asked for again, and paid for once", async () => {
  await using desk = await sponsoring();
  const { body: { digest } } = await desk.ask();
  desk.sponsor.fail = { call: "execute", error: LOST, executed: true };
  assertError(await desk.execute(digest), [502, "sponsor_upstream_error"]);
  desk.sponsor.fail = undefined;
  assert.equal((await desk.execute(digest)).status, 200);
  assert.deepEqual(desk.sponsor.paid, [digest]);
  assert.equal((await desk.execute(digest)).status, 200);
  assert.equal(desk.sponsor.calls.execute, 2);
});

Deno.test("what may have been executed stays in the day's gas", async () => {
  await using desk = await sponsoring({ limits: { maxGasMist: 10, dailyGasMist: 25 } });
  desk.sponsor.budget = 10;
  const { body: { digest } } = await desk.ask();
  desk.sponsor.fail = { call: "execute", error: LOST };
  await desk.execute(digest);
  // A refusal now proves nothing about the first attempt.
  desk.sponsor.fail = { call: "execute", error: new SvcError("sponsor_rejected") };
  assertError(await desk.execute(digest), [400, "sponsor_rejected"]);
  desk.clock.advance(600_000);
  assert.equal((await desk.ask()).status, 200);
  assert.equal((await desk.ask()).body.code, "sponsor_budget_exhausted");
});

Deno.test("a refused execution frees its gas once it can be tried no longer", async () => {
  await using desk = await sponsoring({ limits: { maxGasMist: 10, dailyGasMist: 10 } });
  desk.sponsor.budget = 10;
  const { body: { digest } } = await desk.ask();
  assert.equal((await desk.execute(digest, { signature: signature(0xff) })).status, 400);
  assert.equal((await desk.ask()).body.code, "sponsor_budget_exhausted");
  desk.clock.advance(600_000);
  assert.equal((await desk.ask()).status, 200);
});

Deno.test("an execution that was not handed on counts no longer than it can be tried", async () => {
  await using desk = await sponsoring({ limits: { maxGasMist: 10, dailyGasMist: 650 } });
  desk.sponsor.budget = 10;
  const { body: { digest } } = await desk.ask();
  const gate = Promise.withResolvers<void>();
  desk.sponsor.sponsorGate = gate.promise;
  const asked = Array.from({ length: 64 }, () => desk.ask());
  while (desk.sponsor.calls.sponsor < 65) await setImmediate();
  assertError(await desk.execute(digest), [503, "sponsor_overloaded"]);
  gate.resolve();
  for (const { status } of await Promise.all(asked)) assert.equal(status, 200);
  assert.equal(desk.sponsor.calls.execute, 0);
  desk.clock.advance(600_000);
  for (let i = 0; i < 65; i++) assert.equal((await desk.ask()).status, 200);
});

Deno.test("what the sponsor has forgotten is gone, with its gas", async () => {
  await using desk = await sponsoring({ limits: { maxGasMist: 10, dailyGasMist: 10 } });
  desk.sponsor.budget = 10;
  const { body: { digest } } = await desk.ask();
  desk.sponsor.fail = { call: "execute", error: new SvcError("sponsorship_not_found") };
  assertError(await desk.execute(digest), [404, "sponsorship_not_found"]);
  desk.sponsor.fail = undefined;
  assertError(await desk.execute(digest), [404, "sponsorship_not_found"]);
  assert.equal((await desk.ask()).status, 200);
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
  await using desk = await sponsoring();
  const { body } = await desk.ask();
  const bytes = Uint8Array.fromBase64(body.bytes);
  desk.sponsor.change = () => ({ bytes, digest: body.digest });
  assert.equal((await desk.ask()).status, 200);
  desk.sponsor.fail = { call: "execute", error: LOST };
  assert.equal((await desk.execute(body.digest)).status, 502);
  desk.clock.advance(599_999);
  // By a sponsor that was started anew, say.
  assert.equal((await desk.ask()).status, 200);
  desk.clock.advance(599_999);
  desk.sponsor.fail = undefined;
  assert.equal((await desk.execute(body.digest)).status, 200);
  assertError(await desk.ask(), [503, "sponsor_overloaded"]);
});
