import { ok, strictEqual } from "node:assert/strict";
import { ABORT } from "../../contracts/mirror.ts";
import { readContract } from "../../src/program/commands/contract_compiler.ts";
import { testContract } from "./unit_tests.ts";
import { type Case, renderModule, tally } from "./differential/cases.ts";
import { entryCases, signatureCases } from "./differential/entry_cases.ts";
import { policyCases } from "./differential/policy_cases.ts";
import { Random } from "./differential/random.ts";
import { sequenceCases } from "./differential/sequences.ts";

const SEED = 20_261_121;
const SOURCES = await readContract(new URL("../../contracts/", import.meta.url));

/** Runs the cases in the Move VM, which must agree with the mirror on every one. */
async function agree(name: string, cases: readonly Case[], functions = ""): Promise<void> {
  // Without the tests of the contract itself, which run elsewhere.
  const contract = Object.fromEntries(
    Object.entries(SOURCES.contract).filter(([path]) => !/_tests\.move$/.test(path)),
  );
  const more = { [`tests/${name}.move`]: renderModule(name, cases, functions) };
  const { passed, output } = await testContract({ ...SOURCES, contract }, more);
  const bad = output.split("\n").filter((line) => /FAIL|error|aborted/.test(line)).slice(0, 20);
  ok(passed, `seed ${SEED}: ${bad.join("\n") || output.slice(0, 4000)}`);
  strictEqual(output.match(/\[ PASS/g)?.length, cases.length);
}

Deno.test(`mirror and Move VM agree on 500 random requests for keys, seed ${SEED}`, async () => {
  const cases = policyCases(new Random(SEED), 500);
  const counts = tally(cases);
  for (const name of ["passes", "ENoAccess", "EBadId", "EInactive", "EVersion"]) {
    ok((counts.get(name) ?? 0) >= 15, `too few of ${name}: ${[...counts]}`);
  }
  await agree("random_policy", cases);
});

Deno.test(`mirror and Move VM agree on random sequences of calls, seed ${SEED}`, async () => {
  const { cases, functions } = sequenceCases(new Random(SEED), 50, 30);
  const counts = tally(cases);
  // Too long to meet by chance: more than 20 keys; the policy has its own cases.
  const elsewhere = ["ETooMany", "ENoAccess", "EBadId"];
  for (const name of Object.keys(ABORT).filter((name) => !elsewhere.includes(name))) {
    ok((counts.get(name) ?? 0) > 0, `no case of ${name}: ${[...counts]}`);
  }
  await agree("random_sequences", cases, functions);
});

Deno.test(`mirror and Move VM agree on 500 random calls with any faults, seed ${SEED}`, async () => {
  const cases = entryCases(new Random(SEED), 500);
  const counts = tally(cases);
  const elsewhere = ["ENoAccess", "EBadId"];
  for (const name of ["passes", ...Object.keys(ABORT)]) {
    const least = elsewhere.includes(name) ? 0 : 4;
    ok((counts.get(name) ?? 0) >= least, `too few of ${name}: ${[...counts]}`);
  }
  await agree("random_entries", cases);
});

Deno.test("mirror and Move VM agree on odd keys and signatures", async () => {
  const cases = signatureCases();
  const counts = tally(cases);
  for (const name of ["passes", "EBadKey", "EBadProof"]) {
    ok((counts.get(name) ?? 0) >= 14, `too few of ${name}: ${[...counts]}`);
  }
  await agree("odd_signatures", cases);
});

Deno.test("a mirror that is wrong is noticed", async () => {
  const cases = policyCases(new Random(SEED), 20);
  const wrong = cases.findIndex(({ code }) => code === 0);
  const changed = cases.map((one, i) => i === wrong ? { ...one, code: ABORT.ENoAccess } : one);
  let noticed = "";
  await agree("random_policy", changed).catch((error: Error) => noticed = error.message);
  ok(noticed.includes(`policy_${wrong}`), noticed);
});
