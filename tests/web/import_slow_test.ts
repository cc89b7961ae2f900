import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Page } from "playwright-core";
import { browserTest } from "./chromium.ts";
import { signIn, withDashboard } from "./dashboard.ts";

/** Chooses a file of these lines in the open page. */
async function choose(page: Page, name: string, lines: readonly string[]): Promise<void> {
  const file = page.getByLabel("File");
  if (!await file.isVisible()) await page.getByText("Import, repair, forget").click();
  await file.setInputFiles({
    name,
    mimeType: "text/plain",
    buffer: Buffer.from(lines.join("\n")),
  });
}

const facts = (n: number) => Array.from({ length: n }, (_, i) => `fact number ${i}`);

browserTest("a memory that the relayer refuses does not end an import", async (browser) => {
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const lines = facts(45).map((text) => JSON.stringify({ text }));
    lines[3] = JSON.stringify({ text: "it ended", expires_at: "2020-01-01T00:00:00Z" });
    lines[30] = JSON.stringify({ text: "too important", importance: 7 });
    await choose(page, "facts.ndjson", lines);
    await page.getByText("43 of 45 memories saved, 2 failed (expires_at:").waitFor();
    await page.getByText("43 memories,").waitFor();
  });
});

browserTest("long lines are sent in as many requests as they need", async (browser) => {
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    await choose(page, "long.txt", facts(24).map((text) => text + "x".repeat(150_000)));
    await page.getByText("24 of 24 memories saved.").waitFor();
    await page.getByText("24 memories,").waitFor();
  });
});

browserTest("an import that broke off goes on, and saves nothing twice", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    let sent = 0;
    await page.route(`${relayer}/api/remember/bulk`, async (route) => {
      if (++sent === 1) return await route.continue();
      // The relayer takes them, and nobody hears of it.
      if (sent === 2) await route.fetch();
      await route.abort();
    });
    await choose(page, "facts.txt", facts(50));
    const goOn = page.getByRole("button", { name: "Go on with the rest" });
    await goOn.waitFor();
    await page.getByText("20 of 50 memories saved.").waitFor();
    await page.unroute(`${relayer}/api/remember/bulk`);
    await goOn.click();
    await page.getByText("50 of 50 memories saved.").waitFor();
    await page.getByText("50 memories,").waitFor();
    await goOn.waitFor({ state: "detached" });
  });
});

browserTest("an import waits for the relayer's limits, whatever is looked at", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await page.clock.install();
    await signIn(page, web);
    let refused = 0;
    await page.route(`${relayer}/api/remember/bulk`, async (route) => {
      if (++refused > 1) return await route.continue();
      await route.fulfill({
        status: 429,
        headers: {
          "access-control-allow-origin": web,
          "access-control-expose-headers": "retry-after",
          "retry-after": "50",
        },
        json: { error: "Rate limit exceeded", code: "rate_limited", retry_after_seconds: 50 },
      });
    });
    await choose(page, "facts.txt", facts(30));
    await page.getByText("0 of 30 memories saved.").waitFor();
    await page.getByText("goes on by itself in").waitFor();
    await page.getByRole("link", { name: "Apps" }).click();
    await page.locator(".key").first().waitFor();
    await page.getByRole("link", { name: "Memories" }).click();
    await page.getByText("Import, repair, forget").click();
    await page.getByText("0 of 30 memories saved.").waitFor();
    assert.equal(await page.getByLabel("File").isDisabled(), true);
    await page.clock.fastForward(60_000);
    await page.getByText("30 of 30 memories saved.").waitFor();
    await page.getByText("30 memories,").waitFor();
  });
});

browserTest(
  "a file with a broken line, or in another encoding, damages nothing",
  async (browser) => {
    await withDashboard(async ({ web }) => {
      const page = await browser.newPage();
      await signIn(page, web);
      await choose(page, "cut.ndjson", ['{"text":"I like tea"}', '{"text":"I live i']);
      await page.getByText("1 of 1 memory saved, 1 line holds no memory.").waitFor();
      await page.getByText("1 memory,").waitFor();
      await page.getByLabel("File").setInputFiles({
        name: "latin.txt",
        mimeType: "text/plain",
        buffer: Buffer.from("Z\u00fcrich", "latin1"),
      });
      await page.getByRole("alert").getByText("This file is not UTF-8 text").waitFor();
      await page.getByText("1 memory,").waitFor();
    });
  },
);
