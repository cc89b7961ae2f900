import assert from "node:assert/strict";
import { startDevnet } from "../../devnet/mod.ts";
import { parseAccount } from "../../plugins/sui/chain/account_object.ts";
import { verifies } from "../requirements.ts";
import { browserTest, complaints, screenshot } from "../web/chromium.ts";
import { withDashboard } from "../web/dashboard.ts";
import { poll } from "../within.ts";
import { appV2, callbackServer, Provider } from "./sdk_apps.ts";

const FACT = "I am allergic to peanuts";
const PATIENCE_MS = 60_000;

browserTest("on a chain, a wallet lets an app in for some namespaces", async (browser) => {
  verifies("10.17-2", "10.17-6", "10.17-7", "11.1-19");
  await using network = await startDevnet();
  await withDashboard(async ({ web, relayer }) => {
    await using back = callbackServer();
    const app = appV2(`${relayer}/api/mcp/connect`, new Provider(back.url, "Test app"));
    assert.equal(await app.connect(), false);
    const page = await browser.newPage();
    const found = complaints(page);
    await page.goto(app.provider.asked!.href);
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByRole("heading", { name: "Let this app use your memories?" })
      .waitFor({ timeout: PATIENCE_MS });
    await page.getByText("Everybody can read these names on the chain.").waitFor();
    await page.getByLabel(/Read and write/).check();
    await page.getByLabel("Only these namespaces").fill("work, notes/");
    await screenshot(page, "oauth_consent_chain");
    const button = page.getByRole("button", { name: "Approve" });
    await button.scrollIntoViewIfNeeded();
    await button.click({ timeout: PATIENCE_MS });
    await page.getByText("Back in the app").waitFor({ timeout: PATIENCE_MS });
    await app.finish(await back.called);

    // The wallet's transaction put the list on the chain.
    const [account] = [...network.chain.objects.values()]
      .filter(({ type }) => type.endsWith("::account::SvcAccount"))
      .map(({ bcs }) => parseAccount(bcs));
    const key = account?.keys.find(({ label }) => label.endsWith("Test app"));
    assert.deepEqual(key?.namespaces, ["work", "notes/"]);

    assert.equal(await app.connect(), true);
    assert.match(await app.call("svc_remember", { text: FACT }), /Remembered in work/);
    const recall = { query: "peanuts" };
    assert.match(await app.call("svc_recall", recall), /allergic to peanuts/);
    const elsewhere = { text: FACT, namespace: "default" };
    assert.match(await app.call("svc_remember", elsewhere), /permission_denied|other namespaces/);
    assert.doesNotMatch(
      await app.call("svc_recall", { ...recall, namespace: "default" }),
      /allergic/,
    );

    await page.goto(`${web}/apps`);
    const card = page.locator(".key", { hasText: "Test app" });
    assert.match(await card.innerText(), /Only in work, notes\//);
    await card.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: /Remove/ }).click();
    await card.waitFor({ state: "detached" });
    await poll(
      () => app.call("svc_recall", recall).catch(String),
      (answer) => !answer.includes("allergic"),
      PATIENCE_MS,
    );
    await app.close();
    assert.deepEqual(found.filter((line) => !line.includes("status of 400")), []);
  }, network.settings());
});
