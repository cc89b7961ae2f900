import assert from "node:assert/strict";
import { browserTest, complaints, screenshot } from "./chromium.ts";
import { signIn, withDashboard } from "./dashboard.ts";
import { card, makeApp, remember } from "./page.ts";

browserTest(
  "a memory is corrected in its card, and its history read and undone",
  async (browser) => {
    await withDashboard(async ({ web, relayer }) => {
      const page = await browser.newPage();
      const found = complaints(page);
      await signIn(page, web);
      const app = await makeApp(page, relayer);
      await remember(page, "My sister lives in Oslo");
      const { memories: [before] } = await app.memories();
      await card(page, "Oslo").getByRole("button", { name: "Edit" }).click();
      const field = page.getByLabel("Text of the memory");
      await field.and(page.locator(":focus")).waitFor();
      await field.fill("My sister lives in Bergen");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Correction on its way").waitFor();
      await card(page, "Bergen").getByText("Changed just now").waitFor();
      await page.getByText("Correction on its way").waitFor({ state: "detached" });
      await card(page, "Bergen").getByRole("button", { name: "Edit" }).and(page.locator(":focus"))
        .waitFor();

      await card(page, "Bergen").getByRole("button", { name: "Edit" }).click();
      await field.fill("My sister lives in Rome");
      await page.keyboard.press("Control+Enter");
      await card(page, "Rome").getByText("Changed").waitFor();
      const { memories: [now] } = await app.memories();
      assert.equal(now?.memory_id, before?.memory_id);
      assert.equal(now?.importance, before?.importance);
      assert.equal(now?.version, 3);

      await page.getByRole("button", { name: "History" }).click();
      const history = page.getByRole("region", { name: "History" });
      await history.getByText("Oslo").first().waitFor();
      assert.deepEqual(
        await history.locator("li .text").allInnerTexts(),
        ["My sister lives in Rome", "My sister lives in Bergen", "My sister lives in Oslo"],
      );
      await screenshot(page, "history");
      await history.getByRole("button", { name: "Go back to this My sister lives in Oslo" })
        .click();
      await history.waitFor({ state: "detached" });
      await card(page, "My sister lives in Oslo").waitFor();
      await page.getByRole("button", { name: "History" }).and(page.locator(":focus")).waitFor();
      assert.equal((await app.memories()).memories[0]?.version, 4);
      assert.deepEqual(found, []);
    });
  },
);

browserTest("what is being written can be given up", async (browser) => {
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    await remember(page, "I like tea");
    const edit = card(page, "tea").getByRole("button", { name: "Edit" });
    const field = page.getByLabel("Text of the memory");
    for (const giveUp of ["key", "button"]) {
      await edit.click();
      await field.fill("I like coffee");
      if (giveUp === "key") await page.keyboard.press("Escape");
      else await page.getByRole("button", { name: "Cancel" }).click();
      await field.waitFor({ state: "detached" });
      await edit.and(page.locator(":focus")).waitFor();
    }
    await edit.click();
    assert.equal(await field.inputValue(), "I like tea");
    await field.fill(" ");
    assert.equal(await page.getByRole("button", { name: "Save" }).isDisabled(), true);
  });
});

browserTest("of two corrections at once the user decides", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    await remember(page, "My sister lives in Oslo");
    const { memories: [memory] } = await app.memories();
    const id = memory!.memory_id;
    const field = page.getByLabel("Text of the memory");
    const notice = page.getByRole("status").filter({ hasText: "Somebody else changed" });
    const correctElsewhere = async (text: string) => {
      const { job_id } = await app.updateMemory(id, { text });
      await app.waitFor(job_id);
    };
    await card(page, "Oslo").getByRole("button", { name: "Edit" }).click();
    await field.fill("My sister lives in Bergen");
    await correctElsewhere("My sister lives in Rome");
    await page.getByRole("button", { name: "Save" }).click();
    await notice.getByText("My sister lives in Rome").waitFor();
    await screenshot(page, "conflict");
    await page.getByRole("button", { name: "Keep theirs" }).click();
    await card(page, "My sister lives in Rome").getByText("Changed").waitFor();
    assert.equal((await app.memories()).memories[0]?.text, "My sister lives in Rome");

    await card(page, "Rome").getByRole("button", { name: "Edit" }).click();
    await field.fill("My sister lives in Bergen");
    await correctElsewhere("My sister lives in Paris");
    await page.getByRole("button", { name: "Save" }).click();
    await notice.getByText("My sister lives in Paris").waitFor();
    await page.getByRole("button", { name: "Take mine" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Enter");
    await card(page, "My sister lives in Bergen").getByText("Changed").waitFor();
    assert.equal((await app.memories()).memories[0]?.text, "My sister lives in Bergen");
    assert.equal((await app.memory(id)).versions.length, 4);
  });
});

browserTest("what was found is corrected as well", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    await remember(page, "I am allergic to peanuts");
    await page.getByLabel("Search by meaning").fill("peanuts");
    await page.getByRole("button", { name: "Search" }).click();
    const match = page.getByRole("region", { name: "Matches" }).locator("li.memory");
    await match.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Text of the memory").fill("I am allergic to hazelnuts");
    await page.getByRole("button", { name: "Save" }).click();
    await match.locator(".text").getByText("I am allergic to hazelnuts").waitFor();
    assert.equal((await app.memories()).memories[0]?.text, "I am allergic to hazelnuts");
  });
});

browserTest("a correction that failed is said, and can be tried again", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    await remember(page, "I like tea");
    let asked = 0;
    await page.route(`${relayer}/api/remember/*`, async (route) => {
      if (route.request().method() !== "GET" || ++asked > 1) return await route.continue();
      const job = await (await route.fetch()).json();
      await route.fulfill({
        headers: { "access-control-allow-origin": web },
        json: { ...job, status: "failed", recallable: false, error: "It could not be embedded" },
      });
    });
    await card(page, "tea").getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Text of the memory").fill("I like coffee");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Correction not saved: It could not be embedded").waitFor();
    await page.getByRole("button", { name: "Try again" }).waitFor();
  });
});
