import assert from "node:assert/strict";
import { addressOf } from "../../src/wire/keys.ts";
import type { Browser, Page } from "playwright-core";
import { appV2, Provider } from "../oauth/sdk_apps.ts";
import { browserTest } from "./chromium.ts";
import { type Dashboard, withDashboard } from "./dashboard.ts";
import { look } from "./look.ts";
import { chooseFile, openUpkeep } from "./page.ts";

/** Edits a memory, reads its history, deletes one. */
async function correctAndDelete(
  page: Page,
  visit: (what: string) => Promise<void>,
): Promise<void> {
  const sister = page.locator("main li.memory", { hasText: "My sister Ada" });
  await sister.getByRole("button", { name: "Edit" }).click();
  await visit("edit");
  const relayer = await page.evaluate("fetch('/config.json').then((it) => it.json())") as {
    relayerUrl: string;
  };
  const memory = `${relayer.relayerUrl}/api/memories/*`;
  await page.route(memory, async (route) => {
    const { headers, method } = { headers: route.request().headers(), method: "PUT" };
    if (route.request().method() !== method) return await route.continue();
    await route.fulfill({
      status: 409,
      headers: { "access-control-allow-origin": headers.origin ?? "*" },
      json: { error: "The memory has another version", code: "version_conflict" },
    });
  });
  await page.getByLabel("Text of the memory").fill("My sister Ada lives in Bergen");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Take mine" }).waitFor();
  await visit("edit_conflict");
  await page.unroute(memory);
  await page.getByRole("button", { name: "Take mine" }).click();
  await sister.getByRole("button", { name: "History" }).click();
  await page.getByRole("button", { name: "Go back to this" }).waitFor();
  await visit("history");
  await sister.getByRole("button", { name: "History" }).click();
  await page.getByLabel("Remember something").fill("I like snow");
  await page.getByRole("button", { name: "Remember" }).click();
  const snow = page.locator("main li.memory", { hasText: "I like snow" });
  await snow.getByRole("button", { name: "Delete" }).click();
  const bar = page.getByRole("region", { name: "Deleted just now" });
  // The time stands still while the bar has the focus.
  await bar.getByRole("button", { name: "Undo" }).focus();
  await visit("deleted");
  await bar.getByRole("button", { name: "Undo" }).click();
  await snow.getByRole("button", { name: "Delete" }).waitFor();
}

/** Looks at what a file holds, imports and exports. */
async function importAndExport(
  page: Page,
  visit: (what: string) => Promise<void>,
): Promise<void> {
  const lines = ["I like tea", "I like milk"].map((memory) => ({ memory, metadata: { a: [] } }));
  const content = JSON.stringify({ results: [...lines, { memory: "" }] });
  await chooseFile(page, "mem0.json", content);
  const preview = page.getByRole("region", { name: "Before the import" });
  await preview.waitFor();
  await visit("import_preview");
  await preview.getByRole("button", { name: "Import 2 memories" }).click();
  await page.getByText("2 memories imported").waitFor();
  await page.getByRole("button", { name: "Export everything" }).click();
  await page.getByText("memories exported").waitFor();
  await visit("imported_and_exported");
  await page.getByRole("button", { name: "Forget…" }).click();
  await visit("forget");
  await page.getByRole("button", { name: "Cancel" }).click();
}

/** Every page and dialog, one after the other. */
async function tour(browser: Browser, { web, relayer }: Dashboard): Promise<string[]> {
  const found: string[] = [];
  // Colours are looked at when they have changed, not while they do.
  const context = await browser.newContext({ reducedMotion: "reduce" });
  const page = await context.newPage();
  const visit = async (what: string) => void found.push(...await look(page, what));
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
  await openUpkeep(page);
  await visit("memories");
  await correctAndDelete(page, visit);
  await importAndExport(page, visit);
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
  const app = appV2(
    `${relayer}/api/mcp/connect`,
    new Provider("https://xn--bcher-kva.example/callback", "Test app"),
  );
  await app.connect();
  await page.goto(app.provider.asked!.href);
  await page.getByRole("button", { name: "Approve" }).scrollIntoViewIfNeeded();
  await page.getByRole("button", { name: "Approve", disabled: false }).waitFor();
  await visit("consent");
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
