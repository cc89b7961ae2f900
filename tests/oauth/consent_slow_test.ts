import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { verifies } from "../requirements.ts";
import { browserTest, complaints, screenshot } from "../web/chromium.ts";
import { signIn, withDashboard } from "../web/dashboard.ts";
import { listenWeb } from "../../src/http/dashboard/listen.ts";
import { readWebFiles } from "../../src/http/dashboard/files.ts";
import { freePort } from "../free_port.ts";
import { answering, CLIENT, documentOf, leadingTo } from "./document_server.ts";
import { startOAuth } from "./fixture.ts";
import { APPS, appV2, callbackServer, Provider } from "./sdk_apps.ts";

const FACT = "I am allergic to peanuts";

async function labels(page: Page, web: string): Promise<string[]> {
  await page.goto(`${web}/apps`);
  await page.locator(".key").first().waitFor();
  return await page.locator(".key h3").allInnerTexts();
}

/** The button counts once it was in sight for a second. */
async function approve(page: Page): Promise<void> {
  const button = page.getByRole("button", { name: "Approve" });
  await button.scrollIntoViewIfNeeded();
  await button.click();
}

for (const [version, appOf] of Object.entries(APPS)) {
  browserTest(`a person connects client ${version} by its address and a click`, async (browser) => {
    verifies("11.1-19", "11.1-26");
    await withDashboard(async ({ web, relayer, program }) => {
      await using back = callbackServer();
      const address = `${relayer}/api/mcp/connect`;
      const app = appOf(address, new Provider(back.url, "Test app"));
      assert.equal(await app.connect(), false);
      // Nobody has used this browser yet: the account is made here.
      const page = await browser.newPage();
      const found = complaints(page);
      await page.goto(app.provider.asked!.href);
      await page.getByRole("button", { name: "Start" }).click();
      await page.getByRole("heading", { name: "Let this app use your memories?" }).waitFor();
      assert.equal(await page.locator(".asker").innerText(), "A program on this computer");
      assert.match(await page.locator(".facts").innerText(), /Test app/);
      await screenshot(page, `oauth_consent_${version}`);
      await page.getByLabel(/Read and write/).check();
      await approve(page);
      await app.finish(await back.called);
      await page.getByText("Back in the app").waitFor();
      assert.equal(await app.connect(), true);
      assert.match(await app.call("svc_remember", { text: FACT }), /Remembered in default/);
      assert.match(await app.call("svc_recall", { query: "peanuts" }), /allergic to peanuts/);
      assert.deepEqual((await labels(page, web)).sort(), ["dashboard", "this computer · Test app"]);
      assert.deepEqual(found, []);

      // Removed like any other app: everything ends at once.
      const card = page.locator(".key", { hasText: "Test app" });
      await card.getByRole("button", { name: "Remove" }).click();
      await page.getByRole("dialog").getByRole("button", { name: /Remove/ }).click();
      await card.waitFor({ state: "detached" });
      app.provider.asked = undefined;
      const after = await app.call("svc_recall", { query: "peanuts" }).catch(String);
      assert.doesNotMatch(after, /allergic/);
      const again = appOf(address, app.provider);
      assert.equal(await again.connect(), false);
      await app.close();
      program.kill("SIGTERM");
      assert.equal(await program.end(), 0);
      const { access_token = "", refresh_token = "" } = app.provider.kept ?? {};
      const log = program.errors.join("\n");
      for (const secret of ["peanuts", access_token, refresh_token]) {
        assert.ok(secret === "" || !log.includes(secret));
      }
    });
  });
}

browserTest("a person who does not want it says so, and nothing is added", async (browser) => {
  verifies("11.1-19");
  await withDashboard(async ({ web, relayer }) => {
    await using back = callbackServer();
    const app = appV2(`${relayer}/api/mcp/connect`, new Provider(back.url, "Test app"));
    await app.connect();
    const page = await browser.newPage();
    await signIn(page, web);
    await page.goto(app.provider.asked!.href);
    await page.getByRole("button", { name: "Do not connect" }).click();
    const answer = await back.called;
    assert.equal(answer.get("error"), "access_denied");
    assert.equal(answer.get("code"), null);
    await page.getByText("Back in the app").waitFor();
    assert.deepEqual(await labels(page, web), ["dashboard"]);
  });
});

browserTest(
  "who asks is shown by the host of the answer, whatever it calls itself",
  async (browser) => {
    verifies("11.1-9", "11.1-15");
    await withDashboard(async ({ web, relayer }) => {
      const page = await browser.newPage();
      await signIn(page, web);
      const found = complaints(page);
      const ask = async (redirect: string, name: string) => {
        const app = appV2(`${relayer}/api/mcp/connect`, new Provider(redirect, name));
        await app.connect();
        await page.goto(app.provider.asked!.href);
        await page.locator(".asker").waitFor();
        return app;
      };
      const odd = "<img src=x onerror=alert(1)><b>Claude</b>\u202e";
      await ask("https://xn--cude-boa65l.ai/callback", odd);
      assert.equal(await page.locator(".asker").innerText(), "xn--cude-boa65l.ai");
      await page.getByText("letters that may look like others").waitFor();
      assert.match(
        await page.locator(".facts").innerText(),
        /<img src=x onerror=alert\(1\)><b>Claude/,
      );
      assert.equal(await page.locator(".facts img").count(), 0);
      await screenshot(page, "oauth_consent_punycode");
      await ask("https://claude.ai.evil.example/callback", "claude.ai");
      assert.equal(await page.locator(".asker").innerText(), "claude.ai.evil.example");
      await ask("cursor://anysphere.cursor-mcp/oauth/callback", "Cursor");
      assert.match(await page.locator(".asker").innerText(), /cursor/);

      // The key's name in the list has the host, too.
      await page.route("https://evil.example/**", (route) => route.fulfill({ body: "evil" }));
      await ask("https://evil.example/callback", "Claude");
      await approve(page);
      await page.waitForURL("https://evil.example/**");
      assert.deepEqual((await labels(page, web)).sort(), ["dashboard", "evil.example · Claude"]);
      assert.deepEqual(found, []);
    });
  },
);

browserTest("a key that the relayer does not take leaves the account", async (browser) => {
  verifies("11.1-19");
  await withDashboard(async ({ web, relayer }) => {
    await using back = callbackServer();
    const app = appV2(`${relayer}/api/mcp/connect`, new Provider(back.url, "Test app"));
    await app.connect();
    const page = await browser.newPage();
    await signIn(page, web);
    const headers = { "access-control-allow-origin": web };
    await page.route("**/oauth/consent/approve", (route) => {
      return route.fulfill({ status: 503, headers, body: "down" });
    });
    await page.goto(app.provider.asked!.href);
    await approve(page);
    await page.getByRole("alert").waitFor();
    await page.unroute("**/oauth/consent/approve");
    assert.deepEqual(await labels(page, web), ["dashboard"]);

    // An address that is not the app's is nowhere to be sent, whoever named it.
    await page.route("**/oauth/consent/approve", (route) => {
      return route.fulfill({ headers, json: { redirect_to: "javascript:document.title='run'" } });
    });
    await page.goto(app.provider.asked!.href);
    await approve(page);
    await page.getByText("The relayer named another address").waitFor();
    assert.notEqual(await page.title(), "run");
  });
});

browserTest("a question that is over, made up or framed asks nobody", async (browser) => {
  verifies("11.1-17");
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    for (const hash of ["", "#request=", "#request=javascript:alert(1)"]) {
      await page.goto("about:blank");
      await page.goto(`${web}/connect/app${hash}`);
      await page.getByText("This link does not work").waitFor();
      assert.equal(await page.getByRole("button", { name: "Start" }).count(), 0);
    }
    await signIn(page, web);
    await page.goto("about:blank");
    await page.goto(`${web}/connect/app#request=${"A".repeat(80)}`);
    await page.getByText("This link does not work").waitFor();
    assert.equal(await page.getByRole("button", { name: "Approve" }).count(), 0);

    const app = appV2(
      `${relayer}/api/mcp/connect`,
      new Provider("http://127.0.0.1:9/callback", "A"),
    );
    await app.connect();
    const asked = app.provider.asked!.href;
    await using outer = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      () =>
        new Response(`<iframe src="${asked.replaceAll("&", "&amp;")}"></iframe>`, {
          headers: { "content-type": "text/html" },
        }),
    );
    await page.goto(`http://127.0.0.1:${outer.addr.port}/`);
    await page.waitForLoadState("networkidle");
    for (const frame of page.frames().slice(1)) {
      assert.equal(await frame.getByRole("button").count(), 0);
    }
  });
});

browserTest("an app that names itself by its document is shown with its host", async (browser) => {
  verifies("11.1-10", "11.1-19");
  await using documents = answering(documentOf({ redirect_uris: ["http://127.0.0.1/callback"] }));
  const port = freePort();
  const webUrl = `http://localhost:${port}`;
  await using test = await startOAuth({
    network: leadingTo(documents),
    config: { clientMetadata: true, webUrl, allowedOrigins: [webUrl] },
  });
  const files = await readWebFiles(new URL("../../web/dist/", import.meta.url));
  const options = {
    webUrl,
    relayerUrl: test.base,
    accounts: "local",
    version: "1",
    files,
  } as const;
  const web = listenWeb(port, options, () => {});
  try {
    await using back = callbackServer();
    const app = appV2(test.resource, new Provider(back.url, "Not shown", CLIENT));
    assert.equal(await app.connect(), false);
    assert.equal(app.provider.asked?.searchParams.get("client_id"), CLIENT);
    const page = await browser.newPage();
    await page.goto(app.provider.asked!.href);
    await page.getByRole("button", { name: "Start" }).click();
    await page.locator(".asker").waitFor();
    const facts = await page.locator(".facts").innerText();
    assert.match(facts, /Example/);
    assert.match(facts, /app\.example/);
    assert.match(facts, /Any program on this computer can say that it is this app/);
    await screenshot(page, "oauth_consent_document");
    await page.getByLabel("Only these namespaces").fill("work, notes/");
    await page.getByRole("combobox", { name: "It works" }).selectOption("for 30 days");
    await approve(page);
    await app.finish(await back.called);
    assert.equal(await app.connect(), true);
    assert.match(await app.call("svc_remember", { text: FACT }), /Remembered in work/);
    const elsewhere = await app.call("svc_remember", { text: FACT, namespace: "private" });
    assert.doesNotMatch(elsewhere, /Remembered/);
    const [account] = await test.svc.backends.accounts.admin!.list().then((all) =>
      all.filter(({ accountId }) => accountId !== test.svc.account.accountId)
    );
    const key = account?.keys.find(({ label }) => label === "this computer · Example");
    assert.deepEqual(key?.namespaces, ["work", "notes/"]);
    assert.deepEqual(key?.permissions, ["read", "write"]);
    assert.ok(key?.expiresAt !== undefined);
    await app.close();
  } finally {
    for (const context of browser.contexts()) await context.close();
    await web.shutdown(0);
  }
});
