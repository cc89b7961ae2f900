import assert from "node:assert/strict";
import { verifies } from "../requirements.ts";
import { browserTest, complaints } from "./chromium.ts";
import { signIn, withDashboard } from "./dashboard.ts";
import { makeApp } from "./page.ts";

browserTest("the address of a source leads to its memory", async (browser) => {
  verifies("12-36");
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    const heard = complaints(page);
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    const { memory_id: id } = await app.remember("A canary sings", { namespace: "pets" });

    await page.goto(`${web}/memory#${id}`);
    await page.locator(".text", { hasText: "A canary sings" }).waitFor();
    await page.getByText("in pets").waitFor();
    await page.getByText(/^by Cursor …[0-9a-f]{8}$/).waitFor();
    await page.getByRole("button", { name: "Delete" }).first().click();
    await page.getByText("This memory is deleted.").waitFor();

    await page.goto(`${web}/memory#nothing`);
    await page.getByText("This address names no memory.").waitFor();
    assert.deepEqual(heard, []);

    const stranger = await browser.newPage();
    await stranger.goto(`${web}/memory#${id}`);
    await stranger.getByRole("heading", { name: "Sign in" }).or(
      stranger.getByRole("button", { name: /key/i }),
    ).first().waitFor();
    assert.ok(!(await stranger.locator("body").innerText()).includes("canary"));
  });
});
