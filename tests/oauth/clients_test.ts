import assert from "node:assert/strict";
import { IssuerMismatchError } from "@modelcontextprotocol/client";
import { TestClock } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { type OAuthTest, REDIRECT, startOAuth } from "./fixture.ts";
import { APPS, appV2, Provider } from "./sdk_apps.ts";

const FACT = "I am allergic to peanuts";

/** What a browser comes back with after its owner approved. */
async function consent(test: OAuthTest, asked: URL | undefined): Promise<URLSearchParams> {
  const response = await fetch(asked!, { redirect: "manual" });
  await response.body?.cancel();
  const [, request = ""] = response.headers.get("location")!.split("#request=");
  return (await test.approve(request)).searchParams;
}

for (const [version, appOf] of Object.entries(APPS)) {
  Deno.test(`client ${version} goes from the bare address to a recall, and refreshes`, async () => {
    verifies("11.1-1", "11.1-2", "11.1-8", "11.1-24");
    const clock = new TestClock();
    await using test = await startOAuth({ clock });
    const app = appOf(test.resource, new Provider(REDIRECT, "Test app"));
    assert.equal(await app.connect(), false);
    const { asked } = app.provider;
    assert.equal(asked?.searchParams.get("resource"), test.resource);
    assert.equal(asked?.searchParams.get("scope"), "read write manage");
    await app.finish(await consent(test, asked));
    assert.equal(await app.connect(), true);
    assert.match(await app.call("svc_remember", { text: FACT }), /Remembered in default/);
    assert.match(await app.call("svc_recall", { query: "peanuts" }), /allergic to peanuts/);

    // An hour later the library has the next one, without a person.
    const { access_token: first } = app.provider.kept;
    clock.advance(3_601_000);
    app.provider.asked = undefined;
    assert.match(await app.call("svc_recall", { query: "peanuts" }), /allergic to peanuts/);
    assert.notEqual(app.provider.kept.access_token, first);
    assert.equal(app.provider.asked, undefined);
    await app.close();
  });
}

Deno.test("an app that was given another name of this machine gets in by that", async () => {
  verifies("11.1-3", "11.1-14");
  await using test = await startOAuth();
  const address = test.resource.replace("127.0.0.1", "localhost");
  const app = appV2(address, new Provider(REDIRECT, "Test app"));
  assert.equal(await app.connect(), false);
  assert.equal(app.provider.asked?.searchParams.get("resource"), address);
  await app.finish(await consent(test, app.provider.asked));
  assert.equal(await app.connect(), true);
  assert.match(await app.call("svc_remember", { text: FACT }), /Remembered in default/);
  await app.close();
});

Deno.test("an answer in another issuer's name is nobody's", async () => {
  verifies("11.1-19");
  await using test = await startOAuth();
  const app = appV2(test.resource, new Provider(REDIRECT, "Test app"));
  await app.connect();
  const callback = await consent(test, app.provider.asked);
  callback.set("iss", "https://evil.example/oauth");
  await assert.rejects(app.finish(callback), IssuerMismatchError);
  callback.delete("iss");
  await assert.rejects(app.finish(callback), IssuerMismatchError);
});
