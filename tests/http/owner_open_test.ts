import assert from "node:assert/strict";
import { keyProofText } from "../../src/wire/signing/signing.ts";
import { startRelayer, TestKey } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";
import { challengeFor, keyParams, ownerCall, ownerPost } from "./owner.ts";
import { ed25519Wallet } from "./wallet.ts";

Deno.test("a sign-in answers the owner's account, and makes it once", async () => {
  verifies("9.2-20");
  await using svc = await startRelayer();
  const wallet = ed25519Wallet();
  const first = await ownerCall(svc, wallet, "open", "/accounts/open");
  assert.equal(first.status, 201);
  const again = await ownerCall(svc, wallet, "open", "/accounts/open");
  assert.equal(again.status, 200);
  assert.deepEqual(again.body, first.body);
});

Deno.test("two sign-ins at once open one account", async () => {
  verifies("9.2-20");
  await using svc = await startRelayer();
  const wallet = ed25519Wallet();
  const answers = await Promise.all(
    [1, 2].map(() => ownerCall(svc, wallet, "open", "/accounts/open")),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 201]);
  assert.deepEqual(answers[0]?.body, answers[1]?.body);
});

Deno.test("a sign-in from elsewhere opens an account but makes none", async () => {
  verifies("9.2-15", "9.2-20");
  await using svc = await startRelayer();
  const wallet = ed25519Wallet();
  const open = async () => {
    const challenge = await challengeFor(svc, wallet, "open");
    const body = { challenge, signature: wallet.signPersonalMessage(challenge), params: {} };
    return await ownerPost(svc, "/accounts/open", body, { peer: "192.0.2.7" });
  };
  assertError(await open(), [403, "registration_closed"]);
  assert.equal((await ownerCall(svc, wallet, "open", "/accounts/open")).status, 201);
  assert.equal((await open()).status, 200);
});

Deno.test("a proof of possession is the new key's, for this account", async () => {
  verifies("9.2-21");
  await using svc = await startRelayer();
  const wallet = ed25519Wallet();
  const { body: { account_id } } = await ownerCall(svc, wallet, "open", "/accounts/open");
  const key = new TestKey();
  const add = async (proof: string) => {
    svc.clock.advance(60_000);
    const params = { ...keyParams(account_id, key), proof };
    return await ownerCall(svc, wallet, "add_key", `/accounts/${account_id}/keys`, params);
  };
  const text = keyProofText(account_id);
  const good = key.sign(text);
  const altered = (good[0] === "0" ? "1" : "0") + good.slice(1);
  const foreign = key.sign(keyProofText(svc.account.accountId));
  for (const proof of ["", "00", altered, foreign, new TestKey().sign(text), good.slice(2)]) {
    assertError(await add(proof), [401, "owner_proof_invalid"]);
  }
  assert.equal((await add(good)).status, 200);
});

Deno.test("the keys of an account are listed with their last use", async () => {
  verifies("10.10-10");
  await using svc = await startRelayer();
  const reader = await svc.addKey(["read"]);
  const writer = await svc.addKey(["write"]);
  assertError(await svc.get("/api/account/keys", { key: writer }), [403, "permission_denied"]);
  svc.clock.freeze();
  const { body } = await svc.get("/api/account/keys");
  const byKey = new Map<string, Record<string, unknown>>(
    body.keys.map((key: { public_key: string }) => [key.public_key, key]),
  );
  assert.deepEqual(
    [...byKey.keys()].sort(),
    [svc.key, reader, writer].map((k) => k.publicKey).sort(),
  );
  const now = new Date(svc.clock.now()).toISOString();
  assert.equal(byKey.get(svc.key.publicKey)?.last_used_at, now);
  assert.equal(byKey.get(reader.publicKey)?.last_used_at, undefined);
  const other = await svc.addAccount();
  const theirs = await svc.get("/api/account/keys", { key: other.key });
  assert.equal(theirs.body.keys.length, 1, "nobody sees another account's keys");
});
