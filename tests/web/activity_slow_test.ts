import assert from "node:assert/strict";
import { SvcClient } from "../../src/client/mod.ts";
import { Program } from "../program.ts";
import { poll } from "../within.ts";
import { browserTest, complaints, screenshot } from "./chromium.ts";
import { signIn, withDashboard } from "./dashboard.ts";

browserTest(
  "an owner sees what an app did, hears of keys from elsewhere, and revokes them all",
  async (browser) => {
    await withDashboard(async ({ web, relayer, env }) => {
      const page = await browser.newPage();
      const heard = complaints(page);
      await signIn(page, web);
      await page.getByRole("link", { name: "Apps" }).click();
      await page.getByLabel("Name of the app").fill("Cursor");
      await page.getByRole("button", { name: "Make a key" }).click();
      const privateKey = await page.getByLabel("Key of Cursor").innerText();
      const client = new SvcClient({ baseUrl: relayer, privateKey });
      await client.remember("A canary sings", { namespace: "pets" });
      await client.recall("Which canary?", { namespace: "pets" });

      await page.getByRole("link", { name: "Activity" }).click();
      const line = page.locator(".activity", { hasText: "Cursor searched in pets" });
      await line.waitFor();
      assert.match(await line.innerText(), /from this machine/);
      await page.locator(".activity", { hasText: "Your wallet added a key" }).waitFor();
      assert.ok(!(await page.locator("main").innerText()).includes("canary"));
      await screenshot(page, "activity");
      await page.getByRole("combobox", { name: "Whose" }).selectOption("owner");
      await line.waitFor({ state: "detached" });
      // The key was made here: nobody is told of it.
      assert.equal(await page.getByText("since this browser was here last").count(), 0);

      await using terminal = new Program(["account", "add-key", "--label", "Stranger"], env);
      assert.match(await terminal.output, /Key added/);
      // The relayer looks every so often what other processes changed.
      const labels = async () => (await client.accountKeys()).keys.map(({ label }) => label);
      await poll(labels, (all) => all.includes("Stranger"));
      await page.goto(`${web}/memories`);
      const notice = page.getByText("since this browser was here last");
      await notice.waitFor();
      await page.getByText("Stranger").first().waitFor();
      await screenshot(page, "new_key_notice");
      await page.getByRole("button", { name: /I know/ }).click();
      await notice.waitFor({ state: "detached" });
      await page.reload();
      await page.getByRole("heading", { name: "Memories" }).waitFor();

      await page.getByRole("link", { name: "Account" }).click();
      await page.getByRole("button", { name: "Revoke everything" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Revoke everything" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      const code = await client.account().then(() => "", (error) => error.code);
      assert.equal(code, "account_not_authorized");
      await page.getByRole("link", { name: "Apps" }).click();
      await page.locator(".key", { hasText: "this page" }).waitFor();
      assert.equal(await page.locator(".key").count(), 1);
      assert.deepEqual(heard.filter((text) => !text.includes("401")), []);
    });
  },
);
