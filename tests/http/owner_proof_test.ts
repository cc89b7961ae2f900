import assert from "node:assert/strict";
import { type Json, startRelayer, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";
import { challengeFor, keyParams, ownerCall, type OwnerOptions, ownerPost } from "./owner.ts";
import { ed25519Wallet, secp256k1Wallet, type Wallet } from "./wallet.ts";

const INVALID = [401, "owner_proof_invalid"] as const;

interface Fixture extends AsyncDisposable {
  readonly svc: TestRelayer;
  readonly wallet: Wallet;
  readonly keys: string;
  readonly params: Json;
}

async function start(config = {}): Promise<Fixture> {
  const svc = await startRelayer({ config });
  const wallet = ed25519Wallet();
  const { body } = await ownerCall(svc, wallet, "create", "/accounts");
  const params = keyParams(body.account_id);
  return {
    svc,
    wallet,
    keys: `/accounts/${body.account_id}/keys`,
    params,
    [Symbol.asyncDispose]: () => svc[Symbol.asyncDispose](),
  };
}

async function proof({ svc, wallet, params }: Fixture, options: OwnerOptions = {}): Promise<Json> {
  const challenge = await challengeFor(svc, wallet, "add_key", params, options);
  return { challenge, signature: wallet.signPersonalMessage(challenge), params };
}

Deno.test("a challenge is used once, also when it failed", async () => {
  verifies("9.2-2", "9.2-10");
  await using fixture = await start();
  const { svc, keys } = fixture;
  const used = await proof(fixture);
  assert.equal((await ownerPost(svc, keys, used)).status, 200);
  assertError(await ownerPost(svc, keys, used), INVALID);
  const failed = await proof(fixture);
  const signature = secp256k1Wallet().signPersonalMessage(failed.challenge);
  assertError(await ownerPost(svc, keys, { ...failed, signature }), INVALID);
  assertError(await ownerPost(svc, keys, failed), INVALID);
});

Deno.test("a challenge is valid for five minutes", async () => {
  verifies("9.2-1", "9.2-10");
  await using fixture = await start();
  const { svc, keys, wallet, params } = fixture;
  svc.clock.freeze();
  const request = { address: wallet.address, action: "add_key", params };
  const { body } = await ownerPost(svc, "/accounts/challenge", request);
  assert.equal(Date.parse(body.expires_at) - svc.clock.now(), 300_000);
  const { challenge } = body;
  const late = { challenge, signature: wallet.signPersonalMessage(challenge), params };
  svc.clock.advance(300_000);
  assertError(await ownerPost(svc, keys, late), INVALID);
  const early = await proof(fixture);
  svc.clock.advance(299_999);
  assert.equal((await ownerPost(svc, keys, early)).status, 200);
});

Deno.test("a challenge is bound to action, parameters and relayer", async () => {
  verifies("9.2-3", "9.2-10");
  await using fixture = await start();
  const { svc, keys, params, wallet } = fixture;
  const attempts: readonly ((valid: Json) => Promise<unknown>)[] = [
    (valid) => ownerPost(svc, `${keys}/remove`, valid),
    (valid) => ownerPost(svc, keys.replace("keys", "deactivate"), valid),
    (valid) => ownerPost(svc, keys, { ...valid, params: { ...params, permissions: ["write"] } }),
    (valid) => ownerPost(svc, keys, { ...valid, params: { ...params, more: 1 } }),
    (valid) => ownerPost(svc, keys, { ...valid, params: {} }),
    (valid) => ownerPost(svc, keys, { ...valid, challenge: `${valid.challenge} ` }),
    (valid) =>
      ownerPost(svc, keys, {
        ...valid,
        challenge: "mine",
        signature: wallet.signPersonalMessage("mine"),
      }),
  ];
  for (const [index, attempt] of attempts.entries()) {
    svc.clock.advance(60_000);
    const answer = await attempt(await proof(fixture));
    assertError(answer as Parameters<typeof assertError>[0], INVALID, {}, String(index));
  }
  svc.clock.advance(60_000);
  const valid = await proof(fixture);
  const { label, ...rest } = params;
  const reordered = { ...valid, params: { label, ...rest } };
  assert.equal(
    (await ownerPost(svc, keys, reordered)).status,
    200,
    "values count, not their order",
  );
});

Deno.test("only the owner's own signature counts", async () => {
  verifies("9.2-9", "9.2-10");
  await using fixture = await start();
  const { svc, keys, wallet, params } = fixture;
  const stranger = ed25519Wallet();
  const theirs = { ...fixture, wallet: stranger };
  assertError(await ownerPost(svc, keys, await proof(theirs)), INVALID);
  await ownerCall(svc, stranger, "create", "/accounts");
  assertError(await ownerPost(svc, keys, await proof(theirs)), INVALID, {}, "another owner");
  const { challenge, signature } = await proof(fixture);
  const bytes = Uint8Array.fromBase64(signature);
  const altered = [
    "",
    "*",
    bytes.subarray(1).toBase64(),
    Uint8Array.of(1, ...bytes.subarray(1)).toBase64(),
    Uint8Array.of(...bytes, 0).toBase64(),
    Uint8Array.of(bytes[0]!, bytes[1]! ^ 1, ...bytes.subarray(2)).toBase64(),
    stranger.signPersonalMessage(challenge),
  ];
  for (const signature of altered) {
    svc.clock.advance(60_000);
    const fresh = await challengeFor(svc, wallet, "add_key", params);
    assertError(await ownerPost(svc, keys, { challenge: fresh, signature, params }), INVALID);
  }
  const listed = await svc.backends.accounts.admin!.ofOwner(wallet.address);
  assert.deepEqual(listed?.keys, []);
});

Deno.test("behind a public address the challenge names that address", async () => {
  verifies("9.2-3", "15-7");
  const publicUrl = "https://memory.example.com";
  await using fixture = await start({ publicUrl, openRegistration: true });
  const { svc, keys } = fixture;
  const valid = await proof(fixture, { host: "memory.example.com" });
  assert.ok(valid.challenge.includes(`relayer: ${publicUrl}\n`));
  assert.equal((await ownerPost(svc, keys, valid, { host: "127.0.0.1:8000" })).status, 200);
});

Deno.test("a challenge names no relayer that its asker chose", async () => {
  verifies("3-40", "9.2-3", "9.2-12");
  await using fixture = await start({ allowedHosts: ["*"] });
  const { svc, keys, wallet, params } = fixture;
  const host = "6.6.6.6:8000";
  for (const listener of [undefined, "http://127.0.0.1:18200", "http://[::]:18200"]) {
    svc.clock.advance(60_000);
    if (listener !== undefined) svc.relayer.listensAt(listener);
    const challenge = await challengeFor(svc, wallet, "add_key", params, { host });
    const base = `http://127.0.0.1:${listener === undefined ? 8000 : 18200}`;
    assert.match(challenge, new RegExp(`\nrelayer: ${base}\n`));
    assert.ok(!challenge.includes("6.6.6.6"));
    // What a stranger's relayer made of it is unknown here, whoever signed it.
    const theirs = challenge.replace(base, `http://${host}`);
    const body = { challenge: theirs, signature: wallet.signPersonalMessage(theirs), params };
    assertError(await ownerPost(svc, keys, body), INVALID);
    assertError(await ownerPost(svc, keys, body, { host }), INVALID);
  }
  await using strict = await start();
  strict.svc.relayer.listensAt("http://127.0.0.1:8000");
  const body = { address: wallet.address, action: "add_key", params };
  const answer = await ownerPost(strict.svc, "/accounts/challenge", body, { host });
  assertError(answer, [403, "host_not_allowed"]);
});
