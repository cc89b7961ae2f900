import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { blake2b } from "@noble/hashes/blake2.js";
import {
  compileContract,
  type MoveFiles,
  readContract,
} from "../../src/program/commands/contract_compiler.ts";
import { testContract } from "./unit_tests.ts";
import { ABORT } from "../../contracts/mirror.ts";
import { renderVectors } from "./vectors.ts";

const SOURCES = await readContract(new URL("../../contracts/", import.meta.url));

/** Results by test name. */
function results(output: string): Map<string, string> {
  const lines = output.matchAll(/^\[ (\w+) +\] svc::(\w+::\w+)$/gm);
  return new Map([...lines].map(([, result = "", name = ""]) => [name, result]));
}

Deno.test("the unit tests of the contract pass in the Move VM", async () => {
  const { passed, output } = await testContract(SOURCES);
  ok(passed, output);
  const count = results(output).size;
  const written = Object.values(SOURCES.contract).join("").match(/^#\[test[,\]]/gm)?.length;
  strictEqual(count, written);
  ok(count > 100);
});

Deno.test("a wrong assertion is noticed, and so are a wrong code and a missing abort", async () => {
  const control = `#[test_only] module svc::control {
    use svc::scene;
    #[test] fun wrong_assertion() { assert!(sui::hash::blake2b256(&b"") == x"00"); }
    #[test, expected_failure(abort_code = 2, location = svc::account)]
    fun wrong_code() {
      let mut s = scene::begin();
      s.create(@0xa);
      s.create(@0xa);
      abort 2
    }
    #[test, expected_failure(abort_code = 9, location = svc::account)]
    fun no_abort() { let mut s = scene::begin(); s.create(@0xa); s.end() }
    #[test] fun right() { assert!(sui::hash::blake2b256(&b"") ==
      x"0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"); }
  }`;
  const { passed, output } = await testContract(SOURCES, { "tests/control.move": control });
  strictEqual(passed, false);
  const failed = [...results(output)].filter(([, result]) => result === "FAIL");
  deepStrictEqual(failed.map(([name]) => name).sort(), [
    "control::no_abort",
    "control::wrong_assertion",
    "control::wrong_code",
  ]);
  strictEqual(results(output).get("control::right"), "PASS");
});

Deno.test("every abort code has a test, and the mirror's names and numbers", () => {
  const source = SOURCES.contract["sources/account.move"] ?? "";
  const codes = Object.fromEntries(
    [...source.matchAll(/^const (E\w+): u64 = (\d+);/gm)].map(([, name, code]) => [
      name,
      Number(code),
    ]),
  );
  deepStrictEqual(codes, { ...ABORT });
  const tests = Object.values(SOURCES.contract).join("");
  for (const name of Object.keys(codes)) match(tests, new RegExp(`abort_code = ${name},`));
});

Deno.test("keys and proofs of the Move tests are up to date", () => {
  strictEqual(SOURCES.contract["tests/vectors.move"], renderVectors());
});

/** The compiler's report on a further test module. */
async function compileError(module: string): Promise<string> {
  const more: MoveFiles = { "tests/attempt.move": `#[test_only]\n${module}` };
  const { passed, output } = await testContract(SOURCES, more);
  strictEqual(passed, false);
  return output;
}

Deno.test("an account of a foreign package cannot be given to the policy", async () => {
  // Field by field the same, but of another module.
  const lookAlike = `module svc::attempt {
    public struct SvcAccount has key { id: UID, version: u64, owner: address,
      pending_owner: Option<address>, delegate_keys: vector<u8>, created_at: u64, active: bool,
      generation: u64 }
    #[test] fun attempt(a: SvcAccount, c: sui::clock::Clock, ctx: TxContext) {
      svc::account::approve(x"", &a, &c, &ctx); abort 0 }
  }`;
  const output = await compileError(lookAlike);
  match(
    output,
    /Invalid call of 'svc::account::approve'. Invalid argument for parameter 'account'/,
  );
});

Deno.test("an object of a foreign package is no account for a transaction either", async () => {
  const attempt = `module svc::attempt {
    use svc::account::SvcAccount as Real;
    use sui::test_scenario as scenario;
    public struct SvcAccount has key { id: UID, version: u64, owner: address }
    fun made(id: vector<Option<ID>>): ID { id[0].to_vec().pop_back() }
    fun share(s: &mut scenario::Scenario): ID {
      let id = object::new(s.ctx());
      transfer::share_object(SvcAccount { id, version: 1, owner: @0xbad });
      s.next_tx(@0xbad);
      made(vector[scenario::most_recent_id_shared<SvcAccount>()])
    }
    #[test] fun control() {
      let mut s = scenario::begin(@0xbad);
      let id = share(&mut s);
      scenario::return_shared(s.take_shared_by_id<SvcAccount>(id));
      s.end();
    }
    #[test] fun attempt() {
      let mut s = scenario::begin(@0xbad);
      let id = share(&mut s);
      scenario::return_shared(s.take_shared_by_id<Real>(id));
      s.end();
    }
  }`;
  const output = await compileError(attempt);
  const own = [...results(output)].filter(([name]) => name.startsWith("attempt::"));
  deepStrictEqual(own.sort(), [["attempt::attempt", "FAIL"], ["attempt::control", "PASS"]]);
});

Deno.test("the digest is the Sui CLI's, and the documented one", async () => {
  const { modules, dependencies, digest } = await compileContract(SOURCES);
  // `MovePackage::compute_digest_for_modules_and_deps`: hashes and ids, sorted, hashed.
  const parts = [
    ...modules.map((module) => blake2b(module, { dkLen: 32 }).toHex()),
    ...dependencies.map((id) => id.slice(2)),
  ].sort();
  strictEqual(digest, blake2b(Uint8Array.fromHex(parts.join("")), { dkLen: 32 }).toHex());
  const page = await Deno.readTextFile(new URL("../../docs/contract.md", import.meta.url));
  deepStrictEqual(page.match(/^[0-9a-f]{64}$/gm), [digest]);
});

Deno.test("the published package has no tests in it", async () => {
  const { modules, dependencies, digest } = await compileContract(SOURCES);
  strictEqual(modules.length, 4);
  deepStrictEqual(dependencies, ["1", "2"].map((id) => "0x" + id.padStart(64, "0")));
  match(digest, /^[0-9a-f]{64}$/);
  for (const module of modules) {
    const text = new TextDecoder("latin1").decode(module);
    ok(!/test|set_account_version|list_key/.test(text));
  }
});
