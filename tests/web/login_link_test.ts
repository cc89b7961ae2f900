import assert from "node:assert/strict";
import { addressOf } from "../../src/wire/keys.ts";
import { checkLoginLink } from "../../web/src/connect/login_link.ts";
import { verifies } from "../requirements.ts";

const RELAYER = "http://127.0.0.1:8000";
const KEY = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8";
const VALID = {
  port: "41000",
  publicKey: KEY,
  delegateAddress: addressOf(KEY),
  label: "Claude Code",
  relayer: RELAYER,
  state: "ab".repeat(32),
};

const check = (change: Record<string, string>, relayer = RELAYER) =>
  checkLoginLink(`?${new URLSearchParams({ ...VALID, ...change })}`, relayer);

Deno.test("a link of the stdio package is understood", () => {
  verifies("14.2-3");
  const { delegateAddress: _, ...rest } = VALID;
  assert.deepEqual(check({}).link, { ...rest, port: 41000 });
  for (const port of ["1025", "65535"]) assert.ok(check({ port }).link);
  assert.equal(check({ publicKey: KEY.toUpperCase() }).link?.publicKey, KEY);
  assert.ok(check({ relayer: "http://localhost:8000/" }).link, "localhost is this machine");
  assert.ok(check({ relayer: "http://[::1]:8000" }, "http://localhost:8000").link, "by IPv6 too");
  assert.ok(check({ label: "ünïcode ✓" }).link);
});

Deno.test("a malformed link is refused", () => {
  verifies("14.2-3");
  const wrong: readonly Record<string, string>[] = [
    ...["", "0", "80", "1024", "65536", "99999", "041000", "4e4", "0x9c40", " 41000", "41000.5"]
      .map((port) => ({ port })),
    ...["", KEY.slice(2), `${KEY}00`, `0x${KEY}`, "g".repeat(64)].map((publicKey) => ({
      publicKey,
    })),
    ...["", "0x00", addressOf("00".repeat(32)), KEY].map((delegateAddress) => ({
      delegateAddress,
    })),
    ...["", "AB".repeat(32), "ab".repeat(31), "ab".repeat(33)].map((state) => ({ state })),
    ...["", " ", "a".repeat(65), "é".repeat(33), "a\nb", "a\u202eb", "a\u0000"]
      .map((label) => ({ label })),
    ...["", "127.0.0.1:8000", "javascript:alert(1)", `${RELAYER}?a=b`, "http://u:p@127.0.0.1:8000"]
      .map((relayer) => ({ relayer })),
  ];
  for (const change of wrong) {
    const { link, problem } = check(change);
    assert.equal(link, undefined, JSON.stringify(change));
    assert.match(problem ?? "", /not complete/);
  }
  for (const name of Object.keys(VALID)) {
    const query = new URLSearchParams(VALID);
    query.delete(name);
    assert.equal(checkLoginLink(`?${query}`, RELAYER).link, undefined, `${name} is missing`);
    const twice = `?${new URLSearchParams(VALID)}&${name}=${encodeURIComponent("x")}`;
    assert.equal(checkLoginLink(twice, RELAYER).link, undefined, `${name} comes twice`);
  }
});

Deno.test("a link for another relayer is refused, and both are named", () => {
  verifies("14.2-3");
  for (
    const relayer of [
      "http://127.0.0.1:8001",
      "https://127.0.0.1:8000",
      "http://evil.example:8000",
      "http://127.0.0.1:8000/other",
      "http://127.0.0.1.evil.example:8000",
    ]
  ) {
    const { link, problem = "" } = check({ relayer });
    assert.equal(link, undefined, relayer);
    assert.ok(problem.includes(relayer) && problem.includes(RELAYER), problem);
  }
});
