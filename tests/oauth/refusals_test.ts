import assert from "node:assert/strict";
import { verifies } from "../requirements.ts";
import { pkce, REDIRECT, startOAuth, WEB } from "./fixture.ts";
import { type Json, TestClock, TestKey } from "../relayer_fixture.ts";
import { makeAppToken } from "../../src/client/tokens/app_token.ts";
import { parseRedirect } from "../../src/http/oauth/redirect_uris.ts";
import { clientName } from "../../src/http/oauth/client.ts";

const { challenge } = await pkce();

Deno.test("nobody is sent to an address that is not one of the app's", async () => {
  verifies("11.1-13");
  await using test = await startOAuth();
  const client_id = await test.register({
    redirect_uris: [REDIRECT, "https://app.example/cb", "cursor://anysphere/cb"],
  });
  const ask = (redirect_uri: string | undefined) =>
    test.ask({ client_id, code_challenge: challenge, redirect_uri });
  for (
    const wrong of [
      ...[
        undefined,
        "",
        "https://evil.example/cb",
        "https://app.example/cb/",
        "https://app.example",
      ],
      ...["https://app.example/cb?a=1", "https://app.example/cb#a", "https://app.example/cb/../cb"],
      ...["https://app.example@evil.example/cb", "https://app.example.evil.example/cb"],
      ...["http://app.example/cb", "https://APP.example/cb", "https://app.example:8443/cb"],
      ...[
        "http://127.0.0.1:6274/other",
        "http://localhost:6274/callback",
        "http://127.0.0.2/callback",
      ],
      ...["https://127.0.0.1:6274/callback", "http://127.0.0.1:6274@evil.example/callback"],
      ...[
        "javascript:alert(1)//",
        "data:text/html,x",
        "cursor://anysphere/other",
        "//evil.example",
      ],
      ...["https://app.example/cb\r\nlocation: https://evil.example", "https://аpp.example/cb"],
    ]
  ) {
    const { status, headers, body } = await ask(wrong);
    assert.equal(status, 400, wrong);
    assert.equal(headers.get("location"), null, wrong);
    assert.match(headers.get("content-type")!, /^text\/plain/);
    assert.match(headers.get("content-security-policy")!, /frame-ancestors 'none'/);
    assert.doesNotMatch(body, /evil/);
  }
  // A program of this machine cannot know its port in advance (RFC 8252).
  for (const right of [REDIRECT, "http://127.0.0.1:50001/callback", "cursor://anysphere/cb"]) {
    const { status, headers } = await ask(right);
    assert.equal(status, 302, right);
    assert.ok(headers.get("location")?.startsWith(`${WEB}/connect/app#request=`));
  }
});

Deno.test("what an app asks wrongly it is told where nobody else can be", async () => {
  verifies("11.1-14", "11.1-15");
  await using test = await startOAuth();
  const client_id = await test.register({ redirect_uris: [REDIRECT, "https://app.example/cb"] });
  const cases: readonly (readonly [Record<string, string | undefined>, string])[] = [
    [{ response_type: "token" }, "unsupported_response_type"],
    [{ response_type: undefined }, "unsupported_response_type"],
    [{ code_challenge: undefined }, "invalid_request"],
    [{ code_challenge: "short" }, "invalid_request"],
    [{ code_challenge_method: "plain" }, "invalid_request"],
    [{ code_challenge_method: undefined }, "invalid_request"],
    [{ resource: "https://other.example/api/mcp/connect" }, "invalid_target"],
    [{ resource: `${test.base}/api/mcp` }, "invalid_target"],
    [{ resource: `${test.resource}?a=1` }, "invalid_target"],
    [{ resource: `${test.resource}/` }, "invalid_target"],
    [{ state: "s".repeat(4097) }, "invalid_request"],
  ];
  for (const [members, error] of cases) {
    const { status, headers } = await test.ask({
      client_id,
      code_challenge: challenge,
      ...members,
    });
    assert.equal(status, 302, JSON.stringify(members));
    const to = new URL(headers.get("location")!);
    assert.equal(to.origin + to.pathname, REDIRECT);
    assert.equal(to.searchParams.get("error"), error);
    assert.equal(to.searchParams.get("iss"), `${test.base}/oauth`);
    if (members.state === undefined) assert.equal(to.searchParams.get("state"), "s t&a=te");
    // Anybody can register an address on the web: no link of ours leads there by itself.
    const redirect_uri = "https://app.example/cb";
    const other = await test.ask({
      client_id,
      code_challenge: challenge,
      redirect_uri,
      ...members,
    });
    assert.equal(other.status, 400);
    assert.equal(other.headers.get("location"), null);
  }
  const twice = await test.get(`/oauth/authorize?client_id=${client_id}&client_id=a`);
  assert.equal(twice.status, 400);
  for (const unknown of ["", "svcapp.AAAA", `svcapp.${"A".repeat(80)}`, "https://a.example/c"]) {
    const { status } = await test.ask({ client_id: unknown, code_challenge: challenge });
    assert.equal(status, 400, unknown);
  }
});

Deno.test("a code is for one app, one address and one secret", async () => {
  verifies("11.1-21", "11.1-26");
  await using test = await startOAuth();
  const client_id = await test.register();
  const other = await test.register({ client_name: "Other" });
  const wrong = async (
    change: (form: Record<string, string>) => Record<string, string>,
  ): Promise<string> => {
    const { verifier, challenge } = await pkce();
    const request = await test.question({ client_id, code_challenge: challenge });
    const code = (await test.approve(request)).searchParams.get("code")!;
    const form = {
      grant_type: "authorization_code",
      code,
      code_verifier: verifier,
      client_id,
      redirect_uri: REDIRECT,
    };
    const first = await test.form("/oauth/token", change(form));
    const second = await test.form("/oauth/token", form);
    return `${first.status} ${first.body.error}, ${second.status} ${second.body.error}`;
  };
  const gone = "400 invalid_grant, 400 invalid_grant";
  assert.equal(await wrong((form) => ({ ...form, client_id: other })), gone);
  assert.equal(await wrong((form) => ({ ...form, code_verifier: "a".repeat(43) })), gone);
  assert.equal(await wrong((form) => ({ ...form, redirect_uri: `${REDIRECT}2` })), gone);
  // What is not even a try of the code leaves it.
  const left = "400 invalid_target, 200 undefined";
  assert.equal(await wrong((form) => ({ ...form, resource: "https://a.example/" })), left);
  assert.equal(
    await wrong((form) => ({ ...form, grant_type: "password" })),
    "400 unsupported_grant_type, 200 undefined",
  );
  const guess = (form: Record<string, string>) => ({
    ...form,
    code: form.code!.slice(0, -4) + "AAAA",
  });
  assert.equal(await wrong(guess), "400 invalid_grant, 200 undefined");
  // The keys of codes that were burned have left the account.
  const { keys } = (await test.svc.backends.accounts.get(test.svc.account.accountId))!;
  assert.equal(keys.filter(({ label }) => label === "Test app").length, 3);
});

Deno.test("a code is good for a minute", async () => {
  verifies("11.1-21");
  const clock = new TestClock();
  clock.freeze();
  await using test = await startOAuth({ clock });
  const client_id = await test.register();
  for (const [ms, status] of [[59_999, 200], [60_000, 400]] as const) {
    const { verifier, challenge } = await pkce();
    const request = await test.question({ client_id, code_challenge: challenge });
    const code = (await test.approve(request)).searchParams.get("code")!;
    clock.advance(ms);
    assert.equal((await test.redeem(code, verifier, client_id)).status, status);
  }
});

Deno.test("the owner sees when an app renews its access, and when somebody else tries to", async () => {
  verifies("11.1-30");
  const clock = new TestClock();
  await using test = await startOAuth({ clock });
  const { client_id, refresh_token } = await test.connect();
  await test.refresh(refresh_token, client_id);
  clock.advance(30_000);
  await test.refresh(refresh_token, client_id);
  const { body } = await test.svc.get("/api/account/activity");
  const entries = body.entries.filter((entry: Json) => entry.action === "POST /oauth/token");
  assert.deepEqual(entries.map(({ outcome, count }: Json) => [outcome, count]), [
    ["token_revoked", 1],
    ["ok", 2],
  ]);
});

Deno.test("a refresh token is its app's, and nobody can make one", async () => {
  verifies("11.1-24");
  await using test = await startOAuth();
  const { client_id, refresh_token } = await test.connect();
  const other = await test.register({ client_name: "Other" });
  assert.equal((await test.refresh(refresh_token, other)).body.error, "invalid_grant");
  const bytes = Uint8Array.fromBase64(refresh_token.slice(6), { alphabet: "base64url" });
  // An older one of the same grant, which somebody makes up, ends nothing.
  for (const at of [0, 19, 20, 51, 52, 67]) {
    const changed = bytes.slice();
    changed[at]! ^= 1;
    const token = "svcr1." + changed.toBase64({ alphabet: "base64url", omitPadding: true });
    assert.equal((await test.refresh(token, client_id)).body.error, "invalid_grant");
  }
  for (const token of ["", "svcr1.", "a".repeat(9000), refresh_token + "A"]) {
    assert.equal((await test.refresh(token, client_id)).body.error, "invalid_grant");
  }
  assert.equal((await test.refresh(refresh_token, client_id)).status, 200);
});

Deno.test("tokens end when they are given back, expire, or their key is removed", async () => {
  verifies("11.1-22", "11.1-24", "11.1-25", "11.1-26");
  const clock = new TestClock();
  await using test = await startOAuth({ clock });
  for (const kind of ["access_token", "refresh_token"] as const) {
    const tokens = await test.connect();
    const { status } = await test.form("/oauth/revoke", { token: tokens[kind] });
    assert.equal(status, 200);
    assert.equal((await test.message(tokens.access_token)).status, 401);
    const { body } = await test.refresh(tokens.refresh_token, tokens.client_id);
    assert.equal(body.error, "invalid_grant");
  }
  assert.equal((await test.form("/oauth/revoke", { token: "nonsense" })).status, 200);
  assert.equal((await test.form("/oauth/revoke", {})).body.error, "invalid_request");

  const { accounts } = test.svc.backends;
  const { accountId } = test.svc.account;
  const removed = await test.connect();
  const key = (await accounts.get(accountId))!.keys.find(({ label }) => label === "Test app")!;
  await accounts.admin!.removeKey(accountId, key.publicKey);
  const answer = await test.message(removed.access_token);
  assert.equal(answer.status, 401);
  assert.match(
    answer.headers.get("www-authenticate")!,
    /error="invalid_token", resource_metadata=/,
  );
  const { body } = await test.refresh(removed.refresh_token, removed.client_id);
  assert.equal(body.error, "invalid_grant");

  const tokens = await test.connect();
  clock.advance(3_599_000);
  assert.equal((await test.message(tokens.access_token)).status, 200);
  clock.advance(2_000);
  assert.equal((await test.message(tokens.access_token)).status, 401);
  const fresh = await test.refresh(tokens.refresh_token, tokens.client_id);
  assert.equal((await test.message(fresh.body.access_token)).status, 200);
  clock.advance(90 * 86_400_000);
  const late = await test.refresh(fresh.body.refresh_token, tokens.client_id);
  assert.equal(late.body.error, "invalid_grant");
});

Deno.test("a token is good at its own address only", async () => {
  verifies("11.1-1", "11.1-2", "11.1-22");
  await using test = await startOAuth();
  const { access_token } = await test.connect();
  const elsewhere = await test.message(access_token, "/api/mcp");
  assert.equal(`${elsewhere.status} ${elsewhere.body.error.data.code}`, "401 audience_mismatch");
  assert.doesNotMatch(elsewhere.headers.get("www-authenticate")!, /resource_metadata/);
  // Nor does this address take a token for the other one, or a private key.
  const { key, account: { accountId } } = test.svc;
  const privateKey = key.seed.toHex();
  const made = await makeAppToken({ relayer: test.base, accountId, privateKey }, {});
  assert.equal((await test.message(made.token, "/api/mcp")).status, 200);
  for (const bearer of [made.token, privateKey]) {
    const answer = await test.message(bearer);
    assert.equal(answer.status, 401);
    assert.match(answer.headers.get("www-authenticate")!, /resource_metadata/);
  }
});

Deno.test("the address with headers leads nobody to OAuth", async () => {
  verifies("11.1-5");
  await using test = await startOAuth();
  const refused = await test.message(undefined, "/api/mcp");
  assert.equal(refused.status, 401);
  assert.doesNotMatch(refused.headers.get("www-authenticate") ?? "", /resource_metadata/);
  for (
    const path of [
      ...["/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server"],
      ...["/.well-known/oauth-protected-resource/api/mcp", "/.well-known/openid-configuration"],
      ...["/.well-known/oauth-authorization-server/api/mcp", "/authorize", "/token", "/register"],
      ...["/api/mcp/.well-known/openid-configuration"],
    ]
  ) assert.equal((await test.get(path)).status, 404, path);
});

Deno.test("a token allows what was asked for of what its key may do", async () => {
  verifies("11.1-16", "11.1-23");
  await using test = await startOAuth();
  const less = await test.connect({ permissions: ["read", "write"] }, {
    scope: "read offline_access",
  });
  assert.equal(less.scope, "read");
  const more = await test.connect({ permissions: ["read"] }, { scope: "read write manage" });
  assert.equal(more.scope, "read");
  const all = await test.connect({ permissions: ["read", "write"] }, { scope: "openid" });
  assert.equal(all.scope, "read write");
  const narrowed = await test.refresh(all.refresh_token, all.client_id, { scope: "write" });
  assert.equal(narrowed.body.scope, "write");
  const wide = await test.refresh(narrowed.body.refresh_token, all.client_id);
  assert.equal(wide.body.scope, "read write");
  const none = await test.refresh(wide.body.refresh_token, all.client_id, { scope: "manage" });
  assert.equal(none.body.error, "invalid_scope");
});

Deno.test("only the dashboard's page answers, with a key that the owner added", async () => {
  verifies("11.1-18", "11.1-19");
  await using test = await startOAuth();
  const client_id = await test.register();
  const request = await test.question({ client_id, code_challenge: challenge });
  for (const path of ["", "/approve", "/deny"]) {
    for (const origin of ["https://evil.example", "null", test.base]) {
      const { status, body } = await test.consent(path, { request }, origin);
      assert.equal(`${status} ${body.code}`, "403 origin_not_allowed");
    }
    // A form of another page, which asks nobody first, is no JSON.
    const form = await test.get(`/oauth/consent${path}`, {
      method: "POST",
      headers: { origin: WEB, "content-type": "text/plain" },
      body: JSON.stringify({ request }),
    });
    assert.equal(form.status, 415);
  }
  const stranger = new TestKey();
  const approve = (members: Record<string, string>) =>
    test.consent("/approve", {
      request,
      account_id: test.svc.account.accountId,
      private_key: stranger.seed.toHex(),
      ...members,
    });
  const codeOf = async (members: Record<string, string>) => (await approve(members)).body.code;
  assert.equal(await codeOf({}), "account_not_authorized");
  assert.equal(await codeOf({ request: request.slice(0, -4) + "AAAA" }), "invalid_parameter");
  assert.equal(await codeOf({ request: "" }), "invalid_parameter");
  assert.equal(await codeOf({ private_key: "a" }), "invalid_parameter");
  assert.equal(await codeOf({ account_id: "0x1" }), "invalid_parameter");
  const private_key = test.svc.key.seed.toHex();
  assert.equal((await approve({ private_key })).status, 200);
  assert.equal(await codeOf({ private_key }), "key_exists");
  const denied = new URL((await test.consent("/deny", { request })).body.redirect_to);
  assert.equal(denied.searchParams.get("error"), "access_denied");
  assert.equal(denied.searchParams.get("iss"), `${test.base}/oauth`);
});

Deno.test("a question can be answered for ten minutes", async () => {
  verifies("11.1-17");
  const clock = new TestClock();
  clock.freeze();
  await using test = await startOAuth({ clock });
  const client_id = await test.register();
  const request = await test.question({ client_id, code_challenge: challenge });
  clock.advance(599_999);
  assert.equal((await test.consent("", { request })).status, 200);
  clock.advance(1);
  assert.equal((await test.consent("", { request })).body.code, "invalid_parameter");
});

Deno.test("an app registers what it can be sent to, and nothing is kept of it", async () => {
  verifies("11.1-7", "11.1-8");
  await using test = await startOAuth();
  const register = (metadata: unknown) => test.json("/oauth/register", metadata);
  for (
    const redirect_uris of [
      ...[undefined, [], "https://a.example/", [1], Array(11).fill("https://a.example/")],
      ...[["http://a.example/cb"], ["javascript:alert(1)"], ["data:text/html,a"], ["file:///etc"]],
      ...[["ms-officecmd://x"], ["https://a.example/#a"], ["https://u@a.example/"], ["/cb"]],
      ...[[`https://a.example/${"a".repeat(512)}`], ["intent://a"], ["com.example.app:x"]],
      [...Array(5)].map((_, i) => `https://a.example/${i}${"a".repeat(450)}`),
    ]
  ) {
    const { status, body } = await register({ redirect_uris });
    assert.equal(
      `${status} ${body.error}`,
      "400 invalid_redirect_uri",
      JSON.stringify(redirect_uris),
    );
  }
  const { status, body } = await register({
    redirect_uris: ["com.example.app:/cb", "https://a.example", "http://[::1]/cb"],
    client_name: "A\u202e\nname\u200b",
    token_endpoint_auth_method: "client_secret_post",
    grant_types: ["authorization_code"],
    logo_uri: "https://a.example/logo.png",
  });
  assert.equal(status, 201);
  assert.equal(body.client_name, "Aname");
  assert.equal(body.token_endpoint_auth_method, "none");
  assert.equal("client_secret" in body, false);
  assert.equal("logo_uri" in body, false);
  const grant_types = ["client_credentials"];
  const other = await register({ redirect_uris: [REDIRECT], grant_types });
  assert.equal(other.body.error, "invalid_client_metadata");
  const large = await register({ redirect_uris: [REDIRECT], client_name: "a".repeat(20_000) });
  assert.equal(large.status, 413);
});

Deno.test("redirect addresses mean the same to everybody who reads them", () => {
  verifies("11.1-7");
  const right = [
    ...["https://a.example", "https://a.example/cb?x=1", "http://localhost:1/", "zed://a"],
    ...["http://127.255.0.1/cb", "http://[::1]:8080/cb"],
  ];
  for (const text of right) assert.ok(parseRedirect(text), text);
  for (
    const text of [
      ...[
        "https:a.example/cb",
        "https:/a.example",
        "https://a.example\\@b.example/",
        "//a.example",
      ],
      ...[
        " https://a.example/",
        "https://a.example/ ",
        "https://a.example/\t",
        "HTTPS://a.example/",
      ],
      ...["https://bücher.example/", "http://127.0.0.1.evil.example/", "http://0x7f.1/cb", "zed:a"],
      ...["http://[::ffff:7f00:1]/cb", "http://[::ffff:127.0.0.1]/cb", "http://[::7f00:1]/cb"],
      ...["http://localhost./cb", "http://a.localhost/cb", "http://0.0.0.0/cb", "http://[::]/cb"],
      ...["vbscript:/a", "blob:https://a.example/1", "about:blank", "chrome://a", "x://a"],
    ]
  ) assert.equal(parseRedirect(text), undefined, text);
});

Deno.test("a name is shown as what can be seen of it", () => {
  verifies("11.1-9");
  assert.equal(clientName("  Claude  Desktop "), "Claude Desktop");
  assert.equal(clientName("\u200b\u202e\u2066"), undefined);
  assert.equal(clientName("a".repeat(65)), "a".repeat(64));
  assert.equal(clientName("ü".repeat(33)), "ü".repeat(32));
  assert.equal(clientName("e\u0323\u0302x"), "e\u0323\u0302x");
  assert.equal(clientName("Z\u0300\u0301\u0302\u0303\u0304a"), "Z\u0300\u0301a");
  assert.equal(clientName("Z\u0300\u0301\u200b\u0302a"), "Z\u0300\u0301a");
  assert.equal(clientName(5), undefined);
  assert.equal(clientName("\ud800"), undefined);
});
