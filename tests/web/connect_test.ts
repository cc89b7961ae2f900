import assert from "node:assert/strict";
import { openLoginDesk } from "../../cli/login/mod.ts";
import { SvcClient } from "../../src/client/mod.ts";
import { browserTest, complaints, screenshot } from "./chromium.ts";
import { withDashboard } from "./dashboard.ts";

browserTest("a fresh start: sign in, approve an app, and the app remembers", async (browser) => {
  await withDashboard(async ({ web, relayer, home }) => {
    await using desk = openLoginDesk({ credentialsPath: `${home}/credentials.json` });
    const login = await desk.start({ relayer, webUrl: web, label: "Test app" });
    const page = await browser.newPage();
    const found = complaints(page);
    await page.goto(login.url);
    await screenshot(page, "sign_in");
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByRole("heading", { name: "Connect Test app?" }).waitFor();
    assert.equal(await page.locator(".suffix").textContent(), login.keySuffix);
    await screenshot(page, "connect");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: "Test app is connected" }).waitFor();
    await screenshot(page, "connected");
    const outcome = await login.outcome;
    assert.equal(outcome.status, "signed-in");
    const saved = JSON.parse(await Deno.readTextFile(`${home}/credentials.json`));
    const client = new SvcClient({ baseUrl: relayer, privateKey: saved.delegatePrivateKey });
    const { job_id } = await client.remember("I am allergic to peanuts");
    await client.waitFor(job_id);
    const { results } = await client.recall("what should I not cook?");
    assert.equal(results[0]?.text, "I am allergic to peanuts");
    assert.deepEqual(found, []);
  });
});
