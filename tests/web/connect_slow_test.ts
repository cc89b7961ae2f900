import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { openLoginRequests } from "../../cli/login/mod.ts";
import { SvcClient } from "../../src/client/mod.ts";
import { verifies } from "../requirements.ts";
import { browserTest, complaints, screenshot } from "./chromium.ts";
import { signIn, withDashboard } from "./dashboard.ts";

async function approve(page: Page, label: string): Promise<void> {
  await page.getByRole("heading", { name: `Connect ${label}?` }).waitFor();
  await page.getByRole("button", { name: "Approve" }).click();
}

async function labels(page: Page): Promise<string[]> {
  await page.getByRole("link", { name: "Apps", exact: true }).click();
  await page.locator(".key").first().waitFor();
  return await page.locator(".key h3").allInnerTexts();
}

browserTest("a fresh start: sign in, approve an app, and the app remembers", async (browser) => {
  verifies("14.2-3", "14.2-4", "14.2-5");
  await withDashboard(async ({ web, relayer, home, program }) => {
    await using logins = openLoginRequests({ credentialsPath: `${home}/credentials.json` });
    const login = await logins.start({ relayer, webUrl: web, label: "Test app" });
    const page = await browser.newPage();
    const found = complaints(page);
    await page.goto(login.url);
    await screenshot(page, "journey_sign_in");
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByRole("heading", { name: "Connect Test app?" }).waitFor();
    assert.equal(await page.locator(".suffix").textContent(), login.keySuffix);
    assert.match(await page.locator(".facts").innerText(), new RegExp(relayer));
    await screenshot(page, "journey_connect");
    await page.getByLabel(/Read and write/).check();
    await page.getByRole("combobox", { name: "It works" }).selectOption("for 30 days");
    await approve(page, "Test app");
    await page.getByRole("heading", { name: "Test app is connected" }).waitFor();
    await screenshot(page, "journey_connected");
    const outcome = await login.outcome;
    assert.equal(outcome.status, "signed-in");
    assert.equal("problem" in outcome, false);
    const saved = JSON.parse(await Deno.readTextFile(`${home}/credentials.json`));
    const client = new SvcClient({ baseUrl: relayer, privateKey: saved.delegatePrivateKey });
    const { job_id } = await client.remember("I am allergic to peanuts");
    await client.waitFor(job_id);
    const { results } = await client.recall("what should I not cook?");
    assert.equal(results[0]?.text, "I am allergic to peanuts");
    const { key, account_id } = await client.account();
    assert.equal(key.label, "Test app");
    const days = (Date.parse(key.expires_at ?? "") - Date.now()) / 86_400_000;
    assert.ok(days > 29.9 && days <= 30, `${days} days`);
    assert.equal(saved.accountId, account_id);
    assert.deepEqual((await labels(page)).sort(), ["Test app", "dashboard"]);
    await page.getByRole("link", { name: "Memories" }).click();
    await page.getByText("I am allergic to peanuts").first().waitFor();
    assert.deepEqual(found, []);
    program.kill("SIGTERM");
    assert.equal(await program.end(), 0);
    const log = program.errors.join("\n");
    for (const secret of ["peanuts", saved.delegatePrivateKey]) assert.ok(!log.includes(secret));
  });
});

/** Holds back timers of a second, so that a test decides when the second is over. */
const HELD_SECONDS = `{
  const later = globalThis.setTimeout;
  const never = globalThis.clearTimeout;
  const held = globalThis.heldSeconds = new Map();
  let next = 1e9;
  globalThis.setTimeout = (run, ms, ...rest) => {
    if (ms !== 1000) return later(run, ms, ...rest);
    held.set(++next, run);
    return next;
  };
  globalThis.clearTimeout = (id) => held.delete(id) || never(id);
}`;

/** What a page sees of its tab; a browser without windows never hides one. */
const setVisibility = (state: string) =>
  `Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
  document.dispatchEvent(new Event("visibilitychange"))`;
const setFocus = (focus: boolean) =>
  `document.hasFocus = () => ${focus}; dispatchEvent(new Event("${focus ? "focus" : "blur"}"))`;

browserTest("an approval counts after a second in sight only", async (browser) => {
  await withDashboard(async ({ web, relayer, home }) => {
    await using logins = openLoginRequests({ credentialsPath: `${home}/credentials.json` });
    const { url } = await logins.start({ relayer, webUrl: web, label: "Test app" });
    const page = await browser.newPage();
    await signIn(page, web);
    await page.addInitScript(HELD_SECONDS);
    const seconds = async (n: number) => {
      const end = Date.now() + 10_000;
      while (await page.evaluate("heldSeconds.size") !== n) assert.ok(Date.now() < end);
    };
    const button = page.getByRole("button", { name: "Approve" });
    await page.goto(url);
    await seconds(1);
    assert.equal(await button.isDisabled(), true, "too early");
    await page.setViewportSize({ width: 800, height: 100 });
    await seconds(0);
    assert.equal(await button.isDisabled(), true, "out of sight");
    await page.setViewportSize({ width: 800, height: 1200 });
    await seconds(1);
    assert.equal(await button.isDisabled(), true, "the second starts anew");
    await page.evaluate(setVisibility("hidden"));
    await seconds(0);
    assert.equal(await button.isDisabled(), true, "a tab in the background");
    await page.evaluate(setVisibility("visible"));
    await seconds(1);
    await page.evaluate(setFocus(false));
    await seconds(0);
    assert.equal(await button.isDisabled(), true, "behind another window");
    await page.evaluate(setFocus(true));
    await seconds(1);
    assert.equal(await button.isDisabled(), true, "the second starts anew");
    await page.evaluate("heldSeconds.forEach((run) => run())");
    await page.locator("button:enabled", { hasText: "Approve" }).waitFor();
    // A click that a script makes is nobody's approval.
    await button.evaluate((element) => (element as unknown as { click(): void }).click());
    assert.equal(await button.innerText(), "Approve");
    assert.equal(await button.isEnabled(), true);
  });
});

/** A name is text, whatever it holds. */
const USED = "<b>Used</b>";

browserTest("a link that is malformed, foreign or used up changes nothing", async (browser) => {
  verifies("14.2-3");
  await withDashboard(async ({ web, relayer, home }) => {
    await using logins = openLoginRequests({ credentialsPath: `${home}/credentials.json` });
    const page = await browser.newPage();
    await page.goto(`${web}/connect/mcp?port=1`);
    await page.getByText("This link is not complete").waitFor();
    assert.equal(await page.getByRole("button", { name: "Start" }).count(), 0, "no key for it");
    await signIn(page, web);
    const foreign = await logins.start({ relayer: "http://127.0.0.1:1", webUrl: web, label: "a" });
    await page.goto(foreign.url);
    await page.getByText("This link is for another relayer").waitFor();
    await page.goto(foreign.url.replace(/state=\w+/, "state=1"));
    await page.getByText("This link is not complete").waitFor();

    const used = await logins.start({ relayer, webUrl: web, label: USED });
    await page.goto(used.url);
    await approve(page, USED);
    await page.getByRole("heading", { name: `${USED} is connected` }).waitFor();
    await page.goto(used.url);
    await approve(page, USED);
    await page.getByText("The app is not waiting for this answer").waitFor();
    assert.deepEqual((await labels(page)).sort(), [USED, "dashboard"]);

    const altered = await logins.start({ relayer, webUrl: web, label: "Altered" });
    await page.goto(altered.url.replace(/state=\w+/, `state=${"0".repeat(64)}`));
    await approve(page, "Altered");
    await page.getByText("The app is not waiting for this answer").waitFor();
    assert.deepEqual((await labels(page)).sort(), [USED, "dashboard"]);
  });
});

/** A listener that proves the key and then refuses the callback, or breaks off. */
browserTest("a key whose app refuses it is taken back", async (browser) => {
  await withDashboard(async ({ web, relayer, home }) => {
    await using logins = openLoginRequests({ credentialsPath: `${home}/credentials.json` });
    const page = await browser.newPage();
    await signIn(page, web);
    const { url } = await logins.start({ relayer, webUrl: web, label: "Refusing" });
    const headers = { "access-control-allow-origin": web };
    await page.route("**/callback", (route) => route.fulfill({ status: 500, headers }));
    await page.goto(url);
    await approve(page, "Refusing");
    await page.getByText("The app is not waiting for this answer").waitFor();
    await page.unroute("**/callback");
    assert.deepEqual(await labels(page), ["dashboard"]);

    const second = await logins.start({ relayer, webUrl: web, label: "Broken" });
    await page.route("**/callback", (route) => route.abort());
    await page.goto(second.url);
    await approve(page, "Broken");
    await page.getByText("the app did not confirm it").waitFor();
    await page.unroute("**/callback");
    assert.deepEqual((await labels(page)).sort(), ["Broken", "dashboard"]);
  });
});
