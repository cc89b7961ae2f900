import assert from "node:assert/strict";
import { Program } from "../program.ts";
import { browserTest, complaints } from "./chromium.ts";
import { signIn, withDashboard } from "./dashboard.ts";

/** The address that a terminal prints when it opens the dashboard. */
async function addressOf(terminal: Program): Promise<string> {
  for (;;) {
    const found = terminal.errors.join("\n").match(/http:\/\/localhost:\d+\/open#\S+/)?.[0];
    if (found !== undefined) return found;
    await terminal.more();
  }
}

browserTest("a terminal opens the dashboard signed in, once", async (browser) => {
  await withDashboard(async ({ web, relayer, env: started }) => {
    const env = { ...started, SVC_PUBLIC_URL: relayer, SVC_NO_BROWSER: "1" };
    await using create = new Program(["account", "create", "--save", "--json"], env);
    const made = JSON.parse(await create.output);
    await using remember = new Program(["remember", "I keep canaries"], env);
    assert.match(await remember.output, /Remembered in default/);

    await using terminal = new Program(["open"], env);
    const address = await addressOf(terminal);
    assert.equal(new URL(address).origin, web);
    const page = await browser.newPage();
    const heard = complaints(page);
    await page.goto(address);
    await page.getByText("I keep canaries").first().waitFor();
    assert.equal(await terminal.end(), 0);
    assert.match(await terminal.output, /signed in/);
    await page.getByRole("link", { name: "Account" }).click();
    await page.locator(`[title="${made.account_id}"]`).first().waitFor();
    assert.deepEqual(heard, []);

    const second = await (await browser.newContext()).newPage();
    await second.goto(address);
    await second.getByText(/not waiting any more/).waitFor();
    assert.equal(await second.evaluate("location.hash"), "");
  });
});

browserTest("who is signed in to another account decides which one it is", async (browser) => {
  await withDashboard(async ({ web, relayer, env: started }) => {
    const env = { ...started, SVC_PUBLIC_URL: relayer, SVC_NO_BROWSER: "1" };
    const page = await browser.newPage();
    await signIn(page, web);
    await using create = new Program(["account", "create", "--save"], env);
    assert.equal(await create.end(), 0);
    await using remember = new Program(["remember", "I keep canaries"], env);
    assert.equal(await remember.end(), 0);
    await using first = new Program(["open"], env);
    await page.goto(await addressOf(first));
    await page.getByText("not saved yet").waitFor();
    await page.getByRole("button", { name: "Stay" }).click();
    await page.getByText("Nothing here yet").waitFor();
    await using second = new Program(["open"], env);
    await page.goto(await addressOf(second));
    await page.getByRole("button", { name: "Sign out there" }).click();
    await page.getByText("I keep canaries").first().waitFor();
  });
});
