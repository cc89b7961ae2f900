import assert from "node:assert/strict";
import { type Json, startRelayer, TestKey, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";
import { challengeFor, ownerCall, ownerPost } from "./owner.ts";
import { ed25519Wallet } from "./wallet.ts";

const wallet = ed25519Wallet();
const { publicKey } = new TestKey();
const key = {
  public_key: publicKey,
  label: "laptop",
  permissions: ["read", "write"],
  proof: "00".repeat(64),
};

/** The lines of a challenge, those whose text is random replaced by its form. */
async function linesFor(svc: TestRelayer, action: string, params: Json = {}): Promise<string[]> {
  svc.clock.advance(60_000);
  const challenge = await challengeFor(svc, wallet, action, params);
  return challenge.replace(/^(params|nonce): [0-9a-f]{64}$/gm, "$1: …").split("\n");
}

Deno.test("a challenge says in words what its signature grants", async () => {
  verifies("9.2-3", "9.2-30", "10.17-6");
  await using svc = await startRelayer();
  svc.clock.freeze();
  const expected = (action: string, words: readonly string[]) => [
    "svc owner request",
    "relayer: http://127.0.0.1:8000",
    `action: ${action}`,
    `address: ${wallet.address}`,
    "params: …",
    ...words,
    "nonce: …",
    `sign before: ${new Date(svc.clock.now() + 300_000).toISOString()}`,
  ];
  const end = "2999-01-01T00:00:00+01:00";
  const tail = publicKey.slice(-8);
  const cases: readonly (readonly [action: string, params: Json, words: readonly string[]])[] = [
    ["open", {}, ["request: open the account, and create it when there is none"]],
    ["create", {}, ["request: create an account"]],
    ["add_key", key, [
      "request: add a key to the account",
      `key: ends in ${tail}`,
      'label: "laptop"',
      "permissions: read, write",
      "key expires: never",
    ]],
    ["add_key", { ...key, permissions: ["read", "read"], expires_at: end, more: "x" }, [
      "request: add a key to the account",
      `key: ends in ${tail}`,
      'label: "laptop"',
      "permissions: read",
      "key expires: 2998-12-31T23:00:00.000Z",
    ]],
    ["add_key", { ...key, namespaces: ["work", 'no"tes\u202e/', "work"] }, [
      "request: add a key to the account",
      `key: ends in ${tail}`,
      'label: "laptop"',
      "permissions: read, write",
      "key expires: never",
      'only for namespaces: "work", "no\\u{22}tes\\u{202e}/"',
    ]],
    ["remove_key", { public_key: publicKey.toUpperCase() }, [
      "request: remove a key from the account",
      `key: ends in ${tail}`,
    ]],
    ["deactivate", {}, ["request: deactivate the account: none of its keys works any more"]],
    ["reactivate", {}, ["request: reactivate the account: its keys work again"]],
  ];
  for (const [action, params, words] of cases) {
    assert.deepEqual(await linesFor(svc, action, params), expected(action, words), action);
  }
});

Deno.test("no label makes a challenge say something else", async () => {
  verifies("9.2-31");
  await using svc = await startRelayer();
  const shown = async (label: string) => {
    const lines = await linesFor(svc, "add_key", { ...key, label });
    assert.equal(lines.length, 12, "as many lines as with any label");
    return lines[7];
  };
  const table: readonly (readonly [label: string, line: string])[] = [
    ["Käthes Läptop 你好", 'label: "Käthes Läptop 你好"'],
    ["a\npermissions: read", 'label: "a\\u{a}permissions: read"'],
    ["a\r\u2028\u2029\u0085b", 'label: "a\\u{d}\\u{2028}\\u{2029}\\u{85}b"'],
    ["x\u202edaer\u2066\u200f", 'label: "x\\u{202e}daer\\u{2066}\\u{200f}"'],
    ["\u200b\ufeff\u00a0\u2003\u115f", 'label: "\\u{200b}\\u{feff}\\u{a0}\\u{2003}\\u{115f}"'],
    ['a", permissions: none \\', 'label: "a\\u{22}, permissions: none \\u{5c}"'],
    ["\u{e0041}\ud800", 'label: "\\u{e0041}\\u{d800}"'],
    ["", 'label: ""'],
  ];
  for (const [label, line] of table) assert.equal(await shown(label), line, JSON.stringify(label));
});

Deno.test("what cannot be said in words gets no challenge", async () => {
  verifies("9.2-31", "5-13", "5-14");
  await using svc = await startRelayer();
  const refused:
    readonly (readonly [action: string, params: Json, status: number, field: string])[] = [
      ["add_key", {}, 422, "params.public_key"],
      ["add_key", { ...key, public_key: "ab\nnonce" }, 400, "params.public_key"],
      ["add_key", { ...key, label: "é".repeat(33) }, 400, "params.label"],
      ["add_key", { ...key, permissions: ["admin\n"] }, 422, "params.permissions[0]"],
      ["add_key", { ...key, expires_at: "never\n" }, 422, "params.expires_at"],
      ["remove_key", { public_key: "\u202e" }, 400, "params.public_key"],
      ["remove_key", {}, 422, "params.public_key"],
    ];
  for (const [action, params, status, field] of refused) {
    svc.clock.advance(60_000);
    const body = { address: wallet.address, action, params };
    const answer = await ownerPost(svc, "/accounts/challenge", body);
    const code = status === 422 ? "invalid_request" : "invalid_parameter";
    assertError(answer, [status, code], { field });
  }
});

Deno.test("the words and the parameters are those of one request", async () => {
  verifies("9.2-3", "9.2-10");
  await using svc = await startRelayer();
  const { body } = await ownerCall(svc, wallet, "open", "/accounts/open");
  const challenge = await challengeFor(svc, wallet, "add_key", key);
  const altered = challenge.replace("permissions: read, write", "permissions: read");
  const signature = wallet.signPersonalMessage(altered);
  const proof = { challenge: altered, signature, params: key };
  const path = `/accounts/${body.account_id}/keys`;
  assertError(await ownerPost(svc, path, proof), [401, "owner_proof_invalid"]);
});
