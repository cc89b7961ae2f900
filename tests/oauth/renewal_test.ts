import assert from "node:assert/strict";
import { verifies } from "../requirements.ts";
import { startOAuth } from "./fixture.ts";

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
