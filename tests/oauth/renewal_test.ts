import assert from "node:assert/strict";
import { verifies } from "../requirements.ts";
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
