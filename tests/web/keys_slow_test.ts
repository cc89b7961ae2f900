import assert from "node:assert/strict";
import { SvcClient } from "../../src/client/mod.ts";
import { verifies } from "../requirements.ts";
import { browserTest, screenshot } from "./chromium.ts";
import { signIn, withDashboard } from "./dashboard.ts";

/** The longest a removed key may still work, in milliseconds. */
const REMOVED_MS = 60_000;

browserTest(
  "a key is made, used, listed as used, and refused once it is removed",
  async (browser) => {
    verifies("10.10-10");
    await withDashboard(async ({ web, relayer }) => {
      const page = await browser.newPage();
      await signIn(page, web);
      await page.getByRole("link", { name: "Apps" }).click();
      await page.getByLabel("Name of the app").fill("Cursor");
      await page.getByRole("button", { name: "Make a key" }).click();
      const privateKey = await page.getByLabel("Key of Cursor").innerText();
      assert.match(privateKey, /^[0-9a-f]{64}$/);
      const token = await page.getByLabel("Token of Cursor").innerText();
      assert.match(token, /^svct1\.[\w-]+$/);
      const answer = await fetch(`${relayer}/api/mcp`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "initialize",
          params: {
            protocolVersion: "2025-11-25",
            capabilities: {},
            clientInfo: { name: "test", version: "1" },
          },
        }),
      });
      await answer.text();
      assert.equal(answer.status, 200, "it is enough by itself");
      await page.getByRole("combobox", { name: "App" }).selectOption("Cursor");
      const config = JSON.parse(await page.getByLabel("Configuration of Cursor").innerText());
      const { url, headers } = config.mcpServers.svc;
      assert.equal(url, `${relayer}/api/mcp`);
      assert.equal(headers.Authorization, `Bearer ${privateKey}`);
      await screenshot(page, "key_made");

      const accountId = headers["x-svc-account-id"];
      const client = new SvcClient({ baseUrl: relayer, privateKey, accountId });
      assert.equal((await client.account()).key.label, "Cursor");
      const card = page.locator(".key", { hasText: "Cursor" });
      await page.getByRole("link", { name: "Account" }).click();
      await page.getByRole("link", { name: "Apps" }).click();
      await card.getByText(/used just now/).waitFor();

      await card.getByRole("button", { name: "Remove" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
      await card.waitFor({ state: "detached" });
      const end = Date.now() + REMOVED_MS;
      let code = "";
      while (code === "" && Date.now() < end) {
        code = await client.account().then(() => "", (error) => error.code);
      }
      assert.equal(code, "account_not_authorized");
    });
  },
);

browserTest("a key is bound to namespaces where it is made, and shows them", async (browser) => {
  verifies("10.17-1", "10.17-6");
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    await page.getByRole("link", { name: "Apps" }).click();
    await page.getByLabel("Name of the app").fill("Notes");
    await page.getByLabel("Only these namespaces").fill(" work, notes/ ,");
    await page.getByRole("button", { name: "Make a key" }).click();
    const privateKey = await page.getByLabel("Key of Notes").innerText();
    const client = new SvcClient({ baseUrl: relayer, privateKey });
    assert.deepEqual((await client.account()).key.namespaces, ["work", "notes/"]);
    await assert.rejects(client.remember("tea"), { code: "permission_denied" });
    await page.locator(".key", { hasText: "Notes" }).getByText("Only in work, notes/").waitFor();
    await screenshot(page, "key_bound");
  });
});

interface Kept {
  readonly extractable: boolean;
  readonly left: number;
  readonly read: string;
}

/** What a script of the page can learn about its key. */
const READ_PAGE_KEY = `(async () => {
  const open = indexedDB.open("svc", 1);
  await new Promise((resolve) => open.onsuccess = resolve);
  const get = open.result.transaction("kept").objectStore("kept").get("page-key");
  await new Promise((resolve) => get.onsuccess = resolve);
  open.result.close();
  const { privateKey, expiresAt } = get.result;
  const read = await crypto.subtle.exportKey("pkcs8", privateKey).then(() => "read", () => "");
  return { extractable: privateKey.extractable, left: expiresAt - Date.now(), read };
})()`;

browserTest(
  "the page's own key is labelled, ends after a day, and cannot be read out",
  async (browser) => {
    await withDashboard(async ({ web }) => {
      const page = await browser.newPage();
      await signIn(page, web);
      const kept = await page.evaluate(READ_PAGE_KEY) as Kept;
      assert.deepEqual([kept.extractable, kept.read], [false, ""]);
      assert.ok(kept.left <= 86_400_000 && kept.left > 86_000_000, String(kept.left));
      await page.getByRole("link", { name: "Apps" }).click();
      await page.locator(".key", { hasText: "this page" }).getByRole("heading", {
        name: "dashboard",
      }).waitFor();
    });
  },
);

browserTest("a refused key of the page is replaced once, whoever notices", async (browser) => {
  await withDashboard(async ({ web }) => {
    const context = await browser.newContext();
    const reading = await context.newPage();
    await signIn(reading, web);
    const page = await context.newPage();
    await page.goto(`${web}/apps`);
    const cards = page.locator(".key", { hasText: "dashboard" });
    await cards.first().waitFor();
    let added = 0;
    context.on("request", (request) => {
      if (request.method() === "POST" && /\/accounts\/0x\w+\/keys$/.test(request.url())) added++;
    });
    const refused = reading.waitForResponse((response) => response.status() === 401);
    await cards.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await refused;
    // Both tabs ask several things at once, and go on.
    await reading.waitForResponse((response) =>
      response.status() === 200 && response.url().includes("/api/namespaces")
    );
    await cards.first().waitFor();
    assert.equal(await cards.count(), 1);
    assert.equal(added, 1);
  });
});

browserTest("an account without room for the page's key can be given some", async (browser) => {
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    await page.clock.install();
    let refused = 0;
    await page.route(/\/accounts\/0x\w+\/keys$/, async (route) => {
      if (route.request().method() === "OPTIONS") return await route.continue();
      refused++;
      await route.fulfill({
        status: 400,
        headers: { "access-control-allow-origin": web },
        json: { error: "An account has at most 100 keys", code: "invalid_parameter" },
      });
    });
    await page.goto(web);
    await page.getByRole("button", { name: "Start" }).click();
    const alert = page.getByRole("alert").getByText("at most 100 keys");
    await alert.first().waitFor();
    for (let turn = 0; turn < 5; turn++) await page.clock.runFor(3000);
    assert.equal(refused, 1, "nobody asks for a key all the time");
    await page.goto(`${web}/apps`);
    await alert.first().waitFor();
    await page.unroute(/\/accounts\/0x\w+\/keys$/);
    await page.getByRole("button", { name: "Show the keys" }).click();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator(".key", { hasText: "this page" }).waitFor();
  });
});
