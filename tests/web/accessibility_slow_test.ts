import axe from "axe-core";
import assert from "node:assert/strict";
import { addressOf } from "../../src/wire/keys.ts";
import type { Browser, Page } from "playwright-core";
import { browserTest, screenshot } from "./chromium.ts";
import { type Dashboard, withDashboard } from "./dashboard.ts";

/** The source of axe-core, for the page. */
const AXE: string = axe.source;

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Serious and critical findings on what the page shows now. */
async function findings(page: Page): Promise<string[]> {
  // The page's policy forbids strangers' scripts; the debugger is none.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate("axe.run()") as { violations: Violation[] };
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`)
    );
}

/** A page at its rest: nothing is being loaded. */
async function settled(page: Page): Promise<void> {
  await page.locator("h1").first().waitFor();
  await page.getByText("Loading…").first().waitFor({ state: "hidden" });
}

const LOOKS = [
  { name: "light", colorScheme: "light", viewport: { width: 1280, height: 900 } },
  { name: "dark", colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  { name: "phone", colorScheme: "light", viewport: { width: 375, height: 740 } },
] as const;

/** Every page and dialog, one after the other. */
async function tour(browser: Browser, { web, relayer }: Dashboard): Promise<string[]> {
  const found: string[] = [];
  // Colours are looked at when they have changed, not while they do.
  const context = await browser.newContext({ reducedMotion: "reduce" });
  const page = await context.newPage();
  const visit = async (what: string) => {
    for (const { name, colorScheme, viewport } of LOOKS) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      await settled(page);
      await screenshot(page, `${what}_${name}`);
      found.push(...(await findings(page)).map((line) => `${what}, ${name}: ${line}`));
      const wide = await page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth",
      );
      if (wide) found.push(`${what}, ${name}: the page is wider than the window`);
    }
  };
  await page.goto(web);
  await visit("sign_in");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("Nothing here yet").waitFor();
  await visit("memories_empty");
  await page.getByRole("button", { name: "Show the recovery key" }).click();
  await page.getByRole("button", { name: "I saved it" }).click();
  for (const text of ["I am allergic to peanuts", "My sister Ada lives in Oslo"]) {
    await page.getByLabel("Remember something").fill(text);
    await page.getByRole("button", { name: "Remember" }).click();
    await page.locator(".memory", { hasText: text }).getByText("Delete").waitFor();
  }
  await page.getByText("Import, repair, forget").click();
  await visit("memories");
  await page.getByLabel("Search by meaning").fill("peanuts");
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByText("score").first().waitFor();
  await visit("search");
  await page.getByRole("link", { name: "Apps" }).click();
  await page.locator(".chip-good", { hasText: "this page" }).waitFor();
  await visit("apps");
  await page.getByRole("button", { name: "Remove" }).first().click();
  await visit("remove_key");
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("link", { name: "Account" }).click();
  await page.getByText("stored, without a limit").waitFor();
  await visit("account");
  const key = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8";
  const query = new URLSearchParams({
    port: "40000",
    publicKey: key,
    delegateAddress: "0x0",
    label: "Test app",
    relayer,
    state: "0".repeat(64),
  });
  await page.goto(`${web}/connect/mcp?${query}`);
  await visit("connect_refused");
  query.set("delegateAddress", addressOf(key));
  await page.goto(`${web}/connect/mcp?${query}`);
  await page.getByRole("button", { name: "Approve" }).scrollIntoViewIfNeeded();
  await page.getByRole("button", { name: "Approve", disabled: false }).waitFor();
  await visit("connect");
  await context.close();
  return found;
}

browserTest(
  "no page has a serious accessibility problem: light, dark, on a phone",
  async (browser) => {
    await withDashboard(async (dashboard) => {
      assert.deepEqual(await tour(browser, dashboard), []);
    });
  },
);
