import assert from "node:assert/strict";
import { SvcClient } from "../../src/client/mod.ts";
import type { Cipher } from "../../src/interfaces/mod.ts";
import {
  makeSessionToken,
  openSessionToken,
  type SignedRequest,
  TOKEN_PURPOSE,
} from "../../src/http/session_tokens.ts";
import { RelayerKey } from "../../src/sealing/relayer_key.ts";
import { bodySha256, canonicalText } from "../../src/wire/signing/signing.ts";
import { formatPrivateKey } from "../../src/wire/signing/private_key.ts";
import { readSessionToken } from "../../src/wire/session_token.ts";
import {
  type Answer,
  read,
  type SendOptions,
  startRelayer,
  testBackends,
  TestClock,
  TestKey,
  type TestRelayer,
} from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";

const OURS = "http://localhost:8000";
const MALFORMED = [401, "auth_header_invalid"] as const;

async function tokenOf(svc: TestRelayer, options: SendOptions = {}): Promise<string> {
  const { status, body } = await svc.post("/api/session-token", { audience: OURS }, options);
  assert.equal(status, 200, body.code);
  return body.token;
}

/** A request with a token on the internal listener, as the sidecar sends it. */
async function internally(
  svc: TestRelayer,
  token: string,
  route = "GET /api/account",
  body?: unknown,
): Promise<Answer> {
  const [method = "", path = ""] = route.split(" ");
  const request = new Request(`http://127.0.0.1:9${path}`, {
    method,
    headers: { "x-svc-session-token": token, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return await read(await svc.relayer.fetchInternal(request, { isProven: true }));
}

Deno.test("a token stands for its key on the internal listener, for an hour", async () => {
  verifies("10.12-1", "10.12-4", "10.12-5", "10.12-10");
  const clock = new TestClock();
  clock.freeze();
  await using svc = await startRelayer({ clock });
  const reader = await svc.addKey(["read"]);
  const { body } = await svc.post("/api/session-token", { audience: OURS }, { key: reader });
  assert.deepEqual(Object.keys(body), ["token", "expires_in"]);
  assert.equal(body.expires_in, 3600);
  assert.match(body.token, /^svct1\.[\w-]+$/);
  assert.ok(!body.token.includes(reader.seed.toHex()));
  const { body: account } = await internally(svc, body.token);
  assert.deepEqual([account.owner, account.key.public_key], [svc.owner, reader.publicKey]);
  const remember = { text: "tea" };
  const refused = await internally(svc, body.token, "POST /api/remember", remember);
  assertError(refused, [403, "permission_denied"]);

  const token = await tokenOf(svc);
  const twice = [];
  for (let i = 0; i < 2; i++) {
    twice.push(await internally(svc, token, "POST /api/remember", remember));
  }
  assert.deepEqual(twice.map(({ status }) => status), [202, 202]);
  assert.notEqual(twice[0]?.body.job_id, twice[1]?.body.job_id, "two calls are two writes");

  clock.advance(3_599_999);
  assert.equal((await internally(svc, token)).status, 200);
  clock.advance(1);
  assertError(await internally(svc, token), [401, "token_expired"]);
});

Deno.test("a token is nothing on the public listener, and makes no other token", async () => {
  verifies("10.12-6", "10.12-7");
  await using svc = await startRelayer();
  const token = await tokenOf(svc);
  for (const headers of [{ "x-svc-session-token": token }, { authorization: `Bearer ${token}` }]) {
    const answer = await svc.plain("GET", "/api/account", undefined, { headers });
    assertError(answer, [401, "auth_headers_missing"]);
  }
  const again = await internally(svc, token, "POST /api/session-token", { audience: OURS });
  assertError(again, [401, "auth_headers_missing"]);
});

Deno.test("a request for another relayer's token makes none", async () => {
  verifies("10.12-2", "10.12-3");
  await using svc = await startRelayer();
  for (
    const audience of ["https://evil.example.com", "http://192.0.2.1:8000", `${OURS}/`, "", "x"]
  ) {
    const answer = await svc.post("/api/session-token", { audience });
    assertError(answer, [401, "audience_mismatch"], {}, audience);
  }
  assertError(await svc.post("/api/session-token", {}), [422, "invalid_request"], {
    field: "audience",
  });
  // Captured, the 4-field form could be sent again for five minutes: a token each time.
  const four = await svc.post("/api/session-token", { audience: OURS }, { form: 4 });
  assertError(four, [426, "upgrade_required"]);
  const request = svc.request("POST", "/api/session-token", { audience: OURS });
  assert.equal((await svc.fetch(request.clone())).status, 200);
  assertError(await svc.fetch(request), [401, "nonce_reused"]);
});

Deno.test("a token that was changed, or is another relayer's, opens nothing", async () => {
  verifies("10.12-8");
  await using svc = await startRelayer();
  await using other = await startRelayer({
    backends: { accounts: svc.backends.accounts },
    existing: svc,
  });
  const token = await tokenOf(svc);
  assertError(await internally(other, token), MALFORMED);
  const bytes = Uint8Array.fromBase64(token.slice(6), { alphabet: "base64url" });
  const victim = await svc.addKey();
  const forged = bytes.slice();
  forged.setFromHex(victim.publicKey);
  const later = bytes.slice();
  later[67]! += 1;
  const changed = [forged, later];
  for (const at of [0, 32, 71, 72, 73, 85, bytes.length - 1]) {
    const copy = bytes.slice();
    copy[at]! ^= 1;
    changed.push(copy);
  }
  for (const copy of [...changed, bytes.slice(0, -1), bytes.slice(0, 80)]) {
    const text = `svct1.${copy.toBase64({ alphabet: "base64url", omitPadding: true })}`;
    assertError(await internally(svc, text), MALFORMED);
  }
  for (
    const text of ["svct1.", "svct2" + token.slice(5), `${token}=`, "svct1." + "A".repeat(101)]
  ) {
    assert.equal(readSessionToken(text), undefined);
    assertError(await internally(svc, text), MALFORMED);
  }
});

Deno.test("a key that was removed has no use of its token", async () => {
  verifies("10.12-5", "10.12-10");
  await using svc = await startRelayer();
  const key = await svc.addKey();
  const token = await tokenOf(svc, { key });
  assert.equal((await internally(svc, token)).status, 200);
  await svc.backends.accounts.admin!.removeKey(svc.account.accountId, key.publicKey);
  assertError(await internally(svc, token), [401, "token_revoked"]);
  const expiring = await svc.addKey(["read"], { expiresAt: svc.clock.now() + 60_000 });
  const short = await tokenOf(svc, { key: expiring });
  svc.clock.advance(60_000);
  assertError(await internally(svc, short), [401, "token_revoked"]);
});

Deno.test("where memories open with a session of a key service, the token takes it along", async () => {
  verifies("10.12-9", "10.12-14");
  const clock = new TestClock();
  clock.freeze();
  const seen: unknown[] = [];
  const { cipher: inner, ...backends } = await testBackends(clock);
  const cipher: Cipher = {
    needsCredential: true,
    seal: (...args) => inner.seal(...args),
    open(items, { credential, ...rest }) {
      seen.push(credential);
      return inner.open(items, rest);
    },
    rotate: (accountId) => inner.rotate(accountId),
    destroy: (keyId) => inner.destroy(keyId),
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };
  await using svc = await startRelayer({ clock, backends: { ...backends, cipher } });
  const bare = await svc.post("/api/session-token", { audience: OURS });
  assertError(bare, [400, "decrypt_credential_required"]);
  for (const other of ["ab".repeat(32), formatPrivateKey(new Uint8Array(32))]) {
    const key = { headers: { "x-delegate-key": other } };
    const withKey = await svc.post("/api/session-token", { audience: OURS }, key);
    assertError(withKey, [400, "decrypt_credential_invalid"]);
  }
  for (const session of [{}, { creationTimeMs: clock.now() - 600_000, ttlMin: 10 }]) {
    const headers = { "x-seal-session": btoa(JSON.stringify(session)) };
    const answer = await svc.post("/api/session-token", { audience: OURS }, { headers });
    assertError(answer, [400, "decrypt_credential_invalid"]);
  }
  // The client makes one when it is asked for it.
  const client = new SvcClient({
    baseUrl: OURS,
    privateKey: svc.key.seed.toHex(),
    now: clock.now,
    fetch: (url, init) => svc.relayer.fetch(new Request(url, init)),
  });
  const call = { body: { audience: OURS }, decrypts: true } as const;
  const { token, expires_in } = await client.call("POST /api/session-token", call);
  assert.equal(expires_in, 598, "as long as the session lasts");
  await svc.remember("tea with honey");
  const { status, body } = await internally(svc, token, "POST /api/recall", { query: "tea" });
  assert.deepEqual([status, body.results[0]?.text], [200, "tea with honey"]);
  assert.ok(seen.every((credential) => Object.keys(credential as object).join() === "session"));
  assert.ok(seen.length > 0);
  // With the key itself it lasts as long as it shall.
  const hex = svc.key.seed.toHex();
  const long = await svc.post(
    "/api/session-token",
    { audience: OURS, expires_in: 86_400 },
    { headers: { "x-delegate-key": hex } },
  );
  assert.deepEqual([long.status, long.body.expires_in], [200, 86_400]);
  const bytes = Uint8Array.fromBase64(long.body.token.slice(6), { alphabet: "base64url" });
  assert.ok(!bytes.toHex().includes(hex) && !new TextDecoder().decode(bytes).includes(hex));
  clock.advance(80_000_000);
  seen.length = 0;
  await internally(svc, long.body.token, "POST /api/recall", { query: "tea" });
  assert.deepEqual(seen, [{ delegateKey: hex }]);
  // Not to a relayer that is another one than the key was made for.
  const foreign = new SvcClient({
    baseUrl: OURS,
    privateKey: new TestKey(svc.key.seed).seed.toHex(),
    isForeign: true,
    now: clock.now,
    fetch: (url, init) => svc.relayer.fetch(new Request(url, init)),
  });
  const code = "decrypt_credential_required";
  await assert.rejects(foreign.call("POST /api/session-token", call), { code });
});

Deno.test("a token lasts as long as was asked for, and allows what was asked for", async () => {
  verifies("10.12-1", "10.12-12", "10.12-13");
  const clock = new TestClock();
  clock.freeze();
  await using svc = await startRelayer({ clock });
  const ask = (more: object, key = svc.key) =>
    svc.post("/api/session-token", { audience: OURS, ...more }, { key });
  const { body } = await ask({ expires_in: 31_622_400, permissions: ["read"], namespace: "work" });
  assert.equal(body.expires_in, 31_622_400);
  clock.advance(31_622_399_000);
  const { body: account } = await internally(svc, body.token);
  assert.deepEqual(account.key.permissions, ["read"]);
  const end = new Date(clock.now() + 1000).toISOString();
  assert.deepEqual(account.token, { expires_at: end, namespace: "work" });
  for (const [route, text] of [["POST /api/remember", "tea"], ["POST /api/analyze", "tea"]]) {
    const refused = await internally(svc, body.token, route, { text });
    assertError(refused, [403, "permission_denied"]);
  }
  assert.equal((await svc.get("/api/account")).body.token, undefined);

  const reader = await svc.addKey(["read"]);
  assertError(await ask({ permissions: ["read", "write"] }, reader), [403, "permission_denied"]);
  for (
    const [more, field] of [
      [{ expires_in: 59 }, "expires_in"],
      [{ expires_in: 31_622_401 }, "expires_in"],
      [{ expires_in: 3600.5 }, "expires_in"],
      [{ permissions: [] }, "permissions"],
      [{ permissions: ["all"] }, "permissions[0]"],
    ] as const
  ) assertError(await ask(more), [422, "invalid_request"], { field });
  const named = await ask({ namespace: "a\nb" });
  assertError(named, [400, "invalid_namespace"], { field: "namespace" });
});

Deno.test("a token is of the address that the relayer had", async () => {
  verifies("10.12-11");
  await using svc = await startRelayer();
  const token = await tokenOf(svc);
  svc.relayer.listensAt("http://127.0.0.1:8000");
  assert.equal((await internally(svc, token)).status, 200);
  svc.relayer.listensAt("http://127.0.0.1:8001");
  assertError(await internally(svc, token), [401, "audience_mismatch"]);
});

Deno.test("a private key is not taken from another machine over plain HTTP", async () => {
  verifies("4.6-8");
  const headers = { "x-delegate-key": new TestKey().seed.toHex() };
  const refused = [403, "key_over_plain_http"] as const;
  const proxies = { trustedProxies: ["10.0.0.1"] };
  await using svc = await startRelayer({ config: proxies });
  const ask = (peer: string, more: Record<string, string> = {}, at = svc) =>
    at.get("/api/account", { headers: { ...headers, ...more }, peer });
  for (const peer of ["192.168.1.20", "203.0.113.9", "fe80::1", "10.0.0.2"]) {
    assertError(await ask(peer), refused, {}, peer);
    assertError(await ask(peer, { "x-forwarded-proto": "https" }), refused, {}, peer);
    assert.equal((await svc.get("/api/account", { peer })).status, 200, "without a key");
  }
  for (const peer of ["127.0.0.1", "::1"]) assert.equal((await ask(peer)).status, 200, peer);
  // What a proxy says counts where it is one.
  const forwarded = { "x-forwarded-for": "203.0.113.9" };
  for (
    const [proto, isFine] of [["https", true], ["http", false], ["https, http", false]] as const
  ) {
    const answer = await ask("10.0.0.1", { ...forwarded, "x-forwarded-proto": proto });
    if (isFine) assert.equal(answer.status, 200, proto);
    else assertError(answer, refused, {}, proto);
  }
  assert.equal((await ask("10.0.0.1", forwarded)).status, 200, "it does not say");
  const request = svc.request("GET", "/api/account", undefined, { headers });
  const secure = new Request(request.url.replace("http:", "https:"), request);
  assert.equal((await svc.fetch(secure, "203.0.113.9")).status, 200, "TLS");
  await using open = await startRelayer({ config: { allowKeyOverHttp: true } });
  assert.equal((await ask("203.0.113.9", {}, open)).status, 200);
});

Deno.test("whoever has the relayer key writes no token that the key did not ask for", () => {
  verifies("10.12-15");
  const sealer = new RelayerKey(new Uint8Array(32).fill(1)).sealer(TOKEN_PURPOSE);
  const [victim, thief] = [new TestKey(), new TestKey()];
  const accountId = `0x${"5".repeat(64)}`;
  const audience = `${OURS}/api/mcp`;
  const now = 1_800_000_000_000;
  const request = (signer: TestKey, asked: object = {}): SignedRequest => {
    const body = JSON.stringify({ audience: OURS, ...asked });
    const timestamp = String(now / 1000);
    const nonce = "8f14e45f-ceea-467f-a3c1-2b0d6f3a9c11";
    const text = canonicalText({
      timestamp,
      method: "POST",
      target: "/api/session-token",
      bodySha256: bodySha256(new TextEncoder().encode(body)),
      nonce,
      accountId,
      audience: OURS,
    });
    const signature = Uint8Array.fromHex(signer.sign(text));
    return { body, timestamp, nonce, accountId, audience: OURS, signature };
  };
  const made = (signed: SignedRequest, at = now) => {
    const key = { publicKey: victim.publicKey, accountId };
    return makeSessionToken(sealer, { key, signed, audience, credential: undefined }, at).token;
  };
  const open = (token: string, at = now) => openSessionToken(sealer, token, [audience], at);
  const own = request(victim, { permissions: ["read"], expires_in: 60 });
  assert.deepEqual(open(made(own)).grant.permissions, ["read"]);
  const refused = { code: "auth_header_invalid" };
  for (
    const forged of [
      request(thief),
      { ...own, body: own.body.replace("read", "write") },
      { ...own, timestamp: String(now / 1000 + 100) },
      { ...own, accountId: undefined },
      { ...own, signature: new Uint8Array(64) },
    ]
  ) assert.throws(() => open(made(forged)), refused);
  // Nor does it make a token of one that the key has asked for last longer.
  const late = now + 86_400_000;
  assert.throws(() => open(made(own, late), late), refused);
  assert.throws(() => open(made(own), now + 60_000), { code: "token_expired" });
});
