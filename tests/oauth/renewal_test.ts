import assert from "node:assert/strict";
import { verifies } from "../requirements.ts";
import { poll } from "../within.ts";
import { TestClock } from "../relayer_fixture.ts";
import { type OAuthTest, startOAuth } from "./fixture.ts";

Deno.test("an account that is switched off for a moment keeps its apps", async () => {
  verifies("11.1-26");
  await using test = await startOAuth();
  const { accountId } = test.svc.account;
  const { admin } = test.svc.backends.accounts;
  const { client_id, refresh_token, access_token } = await test.connect();
  await admin!.setActive(accountId, false);
  assert.equal((await test.message(access_token)).status, 401);
  for (let times = 0; times < 2; times++) {
    const { status, body } = await test.refresh(refresh_token, client_id);
    assert.equal(`${status} ${body.error}`, "503 temporarily_unavailable");
  }
  await admin!.setActive(accountId, true);
  assert.equal((await test.message(access_token)).status, 200);
  const { status, body } = await test.refresh(refresh_token, client_id);
  assert.equal(status, 200);
  assert.equal((await test.message(body.access_token)).status, 200);
});

Deno.test("an app whose key is gone is over, also of an account that is switched off", async () => {
  verifies("11.1-26");
  await using test = await startOAuth();
  const { accountId } = test.svc.account;
  const { accounts } = test.svc.backends;
  const { client_id, refresh_token } = await test.connect();
  const { keys } = (await accounts.get(accountId))!;
  await accounts.admin!.setActive(accountId, false);
  await accounts.admin!.removeKey(
    accountId,
    keys.find((key) => key.label === "Test app")!.publicKey,
  );
  const { status, body } = await test.refresh(refresh_token, client_id);
  assert.equal(`${status} ${body.error}`, "400 invalid_grant");
});

async function isEnded(test: OAuthTest, tokens: readonly string[]): Promise<void> {
  for (const token of tokens) assert.equal((await test.message(token)).status, 401);
  const { keys } = (await test.svc.backends.accounts.get(test.svc.account.accountId))!;
  assert.equal(keys.some(({ label }) => label === "Test app"), false);
}

Deno.test("a refresh token whose answer was lost is answered again, for 30 seconds", async () => {
  verifies("11.1-24");
  const clock = new TestClock();
  clock.freeze();
  await using test = await startOAuth({ clock });
  const { client_id, refresh_token: first, access_token } = await test.connect();
  const second = await test.refresh(first, client_id);
  assert.equal(second.status, 200);
  assert.equal(second.headers.get("cache-control"), "no-store");
  assert.notEqual(second.body.refresh_token, first);
  for (const ms of [0, 29_999]) {
    clock.advance(ms);
    const again = await test.refresh(first, client_id);
    assert.equal(again.status, 200);
    assert.equal(again.body.refresh_token, second.body.refresh_token);
    assert.equal((await test.message(again.body.access_token)).status, 200);
  }
  const other = await test.register({ client_name: "Other" });
  assert.equal((await test.refresh(first, other)).body.error, "invalid_grant");
  clock.advance(1);
  const late = await test.refresh(first, client_id);
  assert.equal(`${late.status} ${late.body.error}`, "400 invalid_grant");
  const next = await test.refresh(second.body.refresh_token, client_id);
  assert.equal(`${next.status} ${next.body.error}`, "400 invalid_grant");
  await isEnded(test, [access_token, second.body.access_token]);
});

Deno.test("a refresh token before the last one ends everything at once", async () => {
  verifies("11.1-24");
  await using test = await startOAuth();
  const { client_id, refresh_token: first, access_token } = await test.connect();
  const second = await test.refresh(first, client_id);
  const third = await test.refresh(second.body.refresh_token, client_id);
  assert.equal(third.status, 200);
  const reused = await test.refresh(first, client_id);
  assert.equal(`${reused.status} ${reused.body.error}`, "400 invalid_grant");
  const last = await test.refresh(third.body.refresh_token, client_id);
  assert.equal(`${last.status} ${last.body.error}`, "400 invalid_grant");
  await isEnded(test, [access_token, third.body.access_token]);
});

Deno.test("an app whose parts refresh at once keeps its access", async () => {
  verifies("11.1-24");
  await using test = await startOAuth();
  const { client_id, refresh_token } = await test.connect();
  const answers = await Promise.all([1, 2, 3].map(() => test.refresh(refresh_token, client_id)));
  const next = new Set(answers.map(({ status, body }) => `${status} ${body.refresh_token}`));
  assert.equal(next.size, 1);
  for (const { body } of answers) {
    assert.equal((await test.message(body.access_token)).status, 200);
  }
  assert.equal((await test.refresh(answers[0]!.body.refresh_token, client_id)).status, 200);
});

/** Opens a session with a token and listens on it; resolves when the stream has ended. */
async function listen(test: OAuthTest, token: string) {
  const opened = await test.message(token);
  assert.equal(opened.status, 200);
  const headers = {
    authorization: `Bearer ${token}`,
    accept: "text/event-stream",
    "mcp-session-id": opened.headers.get("mcp-session-id")!,
    "mcp-protocol-version": "2025-11-25",
  };
  const response = await fetch(test.resource, { headers });
  assert.equal(response.status, 200);
  return { ended: response.text(), headers };
}

const within2s = (work: Promise<unknown>) => {
  const late = AbortSignal.timeout(2000);
  return Promise.race([
    work,
    new Promise((_, reject) => late.addEventListener("abort", () => reject(late.reason))),
  ]);
};

Deno.test("a stream of an app ends with its key, its access or its token", async () => {
  verifies("11.1-31");
  const clock = new TestClock();
  await using test = await startOAuth({ clock });
  const { accounts } = test.svc.backends;
  const { accountId } = test.svc.account;
  const other = await listen(test, (await test.connect()).access_token);
  const before = new Set((await accounts.get(accountId))!.keys.map((key) => key.publicKey));
  const removed = await listen(test, (await test.connect()).access_token);
  const { keys } = (await accounts.get(accountId))!;
  const { publicKey } = keys.find((key) => !before.has(key.publicKey))!;
  await accounts.admin!.removeKey(accountId, publicKey);
  await within2s(removed.ended);

  const tokens = await test.connect();
  const revoked = await listen(test, tokens.access_token);
  await test.form("/oauth/revoke", { token: tokens.refresh_token });
  await within2s(revoked.ended);

  let hasEnded = false;
  void other.ended.then(() => hasEnded = true);
  await new Promise((resolve) => setTimeout(resolve, 1200));
  assert.equal(hasEnded, false, "the app that is let in listens on");
  clock.advance(3_600_000);
  await within2s(other.ended);
});

Deno.test("the session of an app that was removed is closed", async () => {
  verifies("11.1-31");
  await using test = await startOAuth();
  const { accounts } = test.svc.backends;
  const { accountId } = test.svc.account;
  const sessions = async () => {
    const { body } = await test.get("/metrics");
    return /svc_mcp_sessions\{transport="streamable"\} (\d+)/.exec(body)?.[1];
  };
  const { access_token } = await test.connect();
  const opened = await test.message(access_token);
  assert.equal(await sessions(), "1");
  const { keys } = (await accounts.get(accountId))!;
  const { publicKey } = keys.find(({ label }) => label === "Test app")!;
  await accounts.admin!.removeKey(accountId, publicKey);
  const headers = {
    authorization: `Bearer ${access_token}`,
    "mcp-session-id": opened.headers.get("mcp-session-id")!,
  };
  assert.equal((await test.get("/api/mcp/connect", { headers })).status, 401);
  await within2s(poll(sessions, (count) => count === "0"));
});

Deno.test("an app that has left before its answer keeps its refresh token", async () => {
  verifies("11.1-24");
  const clock = new TestClock();
  await using test = await startOAuth({ clock });
  const { client_id, refresh_token } = await test.connect();
  const { accounts } = test.svc.backends;
  const leaving = new AbortController();
  const get = accounts.get.bind(accounts);
  accounts.get = async (...asked) => {
    const account = await get(...asked);
    leaving.abort();
    return account;
  };
  // The relayer asks for the account anew.
  clock.advance(3_600_000);
  const form = { grant_type: "refresh_token", refresh_token, client_id };
  const request = new Request(`${test.base}/oauth/token`, {
    method: "POST",
    body: new URLSearchParams(form),
    signal: leaving.signal,
  });
  assert.notEqual((await test.svc.relayer.fetch(request)).status, 200);
  assert.ok(leaving.signal.aborted);
  accounts.get = get;
  clock.advance(30_000);
  assert.equal((await test.refresh(refresh_token, client_id)).status, 200);
});
