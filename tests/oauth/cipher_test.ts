import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import type { Cipher, DecryptCredential } from "../../src/interfaces/mod.ts";
import { testBackends, TestClock } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { type OAuthTest, REDIRECT, startOAuth } from "./fixture.ts";
import { appV2, Provider } from "./sdk_apps.ts";

/** A relayer whose cipher opens nothing without a key, as Seal's; notes what it is shown. */
async function start(seen: (DecryptCredential | undefined)[]): Promise<OAuthTest> {
  const clock = new TestClock();
  const { cipher: inner, ...backends } = await testBackends(clock);
  const cipher: Cipher = {
    needsCredential: true,
    seal: (...args) => inner.seal(...args),
    open(items, { credential, ...context }) {
      seen.push(credential);
      if (credential?.delegateKey === undefined) throw new SvcError("decrypt_credential_invalid");
      return inner.open(items, context);
    },
    rotate: (accountId) => inner.rotate(accountId),
    destroy: (keyId) => inner.destroy(keyId),
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };
  return await startOAuth({ clock, backends: { ...backends, cipher } });
}

Deno.test("where opening takes a key, it is the app's, and only while a token is shown", async () => {
  verifies("11.1-22", "11.1-27");
  const seen: (DecryptCredential | undefined)[] = [];
  await using test = await start(seen);
  const app = appV2(test.resource, new Provider(REDIRECT, "Test app"));
  await app.connect();
  const response = await fetch(app.provider.asked!, { redirect: "manual" });
  await response.body?.cancel();
  const [, request = ""] = response.headers.get("location")!.split("#request=");
  await app.finish((await test.approve(request)).searchParams);
  await app.connect();
  await app.call("svc_remember", { text: "I am allergic to peanuts" });
  assert.match(await app.call("svc_recall", { query: "peanuts" }), /allergic to peanuts/);
  const keys = new Set(seen.map((credential) => credential?.delegateKey));
  assert.equal(keys.size, 1);
  // What the app shows openly has no trace of the key.
  const { access_token } = app.provider.kept;
  const bytes = Uint8Array.fromBase64(access_token.slice(6), { alphabet: "base64url" });
  const [key = ""] = keys;
  assert.ok(!bytes.toHex().includes(key!));
  assert.ok(!new TextDecoder("latin1").decode(bytes).includes(key!));
  await app.close();
});
