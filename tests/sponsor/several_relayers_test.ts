import assert from "node:assert/strict";
import { withRelayers } from "../memory/owners/several_relayers.ts";
import type { TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { poll } from "../within.ts";
import { FakeSponsor } from "./fake_sponsor.ts";
import { kind, PACKAGE, SENDER } from "./kinds.ts";
import { GENEROUS, signature } from "./sponsoring.ts";

const ask = (relayer: TestRelayer) =>
  relayer.plain("POST", "/sponsor", {
    sender: SENDER,
    transactionBlockKindBytes: kind().toBase64(),
  });

const execute = (relayer: TestRelayer, digest: string) =>
  relayer.plain("POST", "/sponsor/execute", { digest, signature: signature() });

/** A test with three relayers and one sponsor. */
function withSponsor(
  name: string,
  limits: Partial<typeof GENEROUS>,
  body: (relayers: readonly TestRelayer[], sponsor: FakeSponsor) => Promise<void>,
): void {
  const sponsor = new FakeSponsor();
  const config = { packageId: PACKAGE, sponsor: { ...GENEROUS, ...limits } };
  withRelayers(name, { count: 3, config, backends: { sponsor } }, async (relayers) => {
    relayers[0]!.clock.freeze();
    await body(relayers, sponsor);
  });
}

withSponsor(
  "what one relayer sponsored the others execute, once, and count",
  { maxGasMist: 10, dailyGasMist: 25 },
  async ([one, two, three], sponsor) => {
    verifies("9.1-8");
    sponsor.budget = 10;
    sponsor.cost = 4;
    const { body: { digest } } = await ask(one!);
    assert.equal((await execute(two!, digest)).status, 200);
    assert.equal((await execute(three!, digest)).status, 200);
    assert.deepEqual(sponsor.paid, [digest]);
    // 4 are paid and 20 promised.
    assert.equal((await ask(three!)).status, 200);
    assert.equal((await ask(two!)).status, 200);
    for (const relayer of [one!, two!, three!]) {
      assert.equal((await ask(relayer)).body.code, "sponsor_budget_exhausted");
    }
  },
);

withSponsor(
  "relayers that are asked at the same moment promise no more than a day's gas",
  { maxGasMist: 10, dailyGasMist: 40 },
  async (relayers, sponsor) => {
    verifies("9.1-8");
    sponsor.budget = 10;
    sponsor.cost = 10;
    const together = Promise.withResolvers<void>();
    sponsor.sponsorGate = together.promise;
    const asked = relayers.flatMap((relayer) => [ask(relayer), ask(relayer), ask(relayer)]);
    await poll(() => sponsor.calls.sponsor, (calls) => calls === asked.length);
    together.resolve();
    const answers = await Promise.all(asked);
    const promised = answers.filter(({ status }) => status === 200);
    assert.ok(promised.length > 0 && promised.length <= 4, `${promised.length} were promised`);
    for (const { status, body } of answers) {
      if (status !== 200) assert.match(body.code, /^sponsor_(overloaded|budget_exhausted)$/);
    }
    for (const { body } of promised) await execute(relayers[1]!, body.digest);
    assert.equal(sponsor.paid.length, promised.length);
  },
);
