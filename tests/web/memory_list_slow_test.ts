import assert from "node:assert/strict";
import type { SvcClient } from "../../src/client/mod.ts";
import { browserTest } from "./chromium.ts";
import { signIn, withDashboard } from "./dashboard.ts";
import { deletions, makeApp, openUpkeep } from "./page.ts";

browserTest("a page that is left open uses up no requests of the apps", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await page.clock.install();
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    const asked: string[] = [];
    page.on("request", (request) => {
      if (request.method() !== "OPTIONS") {
        asked.push(`${request.method()} ${new URL(request.url()).pathname}`);
      }
    });
    const listed = () =>
      page.waitForResponse((response) =>
        response.request().method() === "GET" && response.url().includes("/api/memories?")
      );
    await page.getByText("Nothing here yet").waitFor();
    asked.length = 0;
    for (let turn = 0; turn < 8; turn++) {
      const answer = listed();
      await page.clock.fastForward(3000);
      await answer;
    }
    assert.deepEqual(asked.filter((request) => !request.startsWith("GET ")), []);
    const { job_id } = await app.remember("I like tea");
    await app.waitFor(job_id);
    const counted = page.waitForRequest((request) => request.url().endsWith("/api/stats"));
    await page.clock.fastForward(3000);
    await counted;
    await page.getByText("1 memory,").waitFor();
  });
});

browserTest("a page of very long memories is shown, and loaded once", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    let bytes = 0;
    page.on("response", async (response) => {
      if (!response.url().includes("/api/memories?")) return;
      bytes += await response.body().then((body) => body.length, () => 0);
    });
    // Six bytes each in JSON: together more than the 32 MiB that an answer may have.
    const ids: string[] = [];
    for (let i = 0; i < 40; i++) {
      ids.push((await app.remember(`${i} tea${"\u0001".repeat(150_000)}`)).job_id);
    }
    for (const id of ids) await app.waitFor(id);
    await page.getByText("40 memories,").waitFor();
    await page.locator(".memory", { hasText: /^39 tea/ }).first().waitFor();
    bytes = 0;
    await page.waitForResponse((response) => response.url().includes("/api/memories?"));
    await page.waitForResponse((response) => response.url().includes("/api/memories?"));
    assert.ok(bytes < 100_000, `${bytes} bytes while nothing changes`);
    for (let pages = 1; await page.locator("main li.memory").count() < 40; pages++) {
      assert.ok(pages < 40);
      const count = await page.locator("main li.memory").count();
      await page.getByRole("button", { name: "Show older ones" }).click();
      await page.locator("main li.memory").nth(count).waitFor();
    }
    await page.locator(".memory", { hasText: /^0 tea/ }).waitFor();
  });
});

/** Saves that many more memories. */
async function save(app: SvcClient, from: number, to: number): Promise<void> {
  for (let start = from; start < to; start += 20) {
    const texts = Array.from({ length: Math.min(20, to - start) }, (_, i) => `fact ${start + i}`);
    const { job_ids } = await app.rememberBulk(texts.map((text) => ({ text })));
    await app.waitForAll(job_ids);
  }
}

/** What a page sees of its tab. */
const setVisibility = (state: string) =>
  `Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true })`;

browserTest("no memory is left out of the list, however many are added", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    const cards = page.locator("main li.memory");
    const showOlder = page.getByRole("button", { name: "Show older ones" });
    await save(app, 0, 60);
    await page.getByText("60 memories,").waitFor();
    await showOlder.click();
    await cards.nth(59).waitFor();
    await save(app, 60, 80);
    await page.getByText("80 memories,").waitFor();
    assert.equal(await cards.count(), 80, "what was loaded stays");
    // Somebody looks elsewhere while more than a page is added.
    await page.evaluate(setVisibility("hidden"));
    await save(app, 80, 160);
    await page.evaluate(setVisibility("visible"));
    await page.getByText("160 memories,").waitFor();
    while (await showOlder.isVisible()) {
      const count = await cards.count();
      await showOlder.click();
      await cards.nth(count).waitFor();
    }
    assert.equal(await cards.count(), 160);
  });
});

browserTest("every namespace can be chosen, however many there are", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    // A page of namespaces has 1,000.
    for (let start = 0; start < 1020; start += 20) {
      const items = Array.from({ length: 20 }, (_, i) => ({
        text: "I like tea",
        namespace: `topic ${String(start + i).padStart(4, "0")}`,
      }));
      await app.rememberBulk(items);
    }
    await page.getByRole("button", { name: "topic 1019" }).click();
    await page.getByText("1 memory,").waitFor();
  }, { SVC_RATE_LIMIT_DISABLED: "true" });
});

browserTest("a memory that was deleted elsewhere can be deleted", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    await save(app, 0, 2);
    await page.getByText("2 memories,").waitFor();
    await page.getByLabel("Search by meaning").fill("fact");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("heading", { name: "2 matches" }).waitFor();
    const { memories } = await app.memories();
    for (const { memory_id } of memories) await app.deleteMemory(memory_id);
    await page.getByRole("button", { name: "Delete" }).first().click();
    await page.getByRole("heading", { name: "1 match" }).waitFor();
    await (await deletions(page)).getByText("It was deleted elsewhere before.").waitFor();
  });
});

browserTest("the keyboard stays at its place when a memory is deleted", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    await save(app, 0, 3);
    await page.getByText("3 memories,").waitFor();
    const cards = page.locator("main li.memory");
    const focused = page.locator("button:focus");
    const texts = await cards.locator(".text").allInnerTexts();
    await cards.nth(1).getByRole("button", { name: "Delete" }).focus();
    for (const next of [texts[2], texts[0]]) {
      await page.keyboard.press("Enter");
      await cards.filter({ hasText: next! }).getByRole("button", { name: "Delete" })
        .and(focused).waitFor();
    }
    await page.keyboard.press("Enter");
    await page.getByText("Nothing here yet").waitFor();
    await page.locator("main:focus").waitFor();
  });
});

browserTest("a namespace is forgotten by its exact name, typed anew each time", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    const { job_id } = await app.remember("I like tea", { namespace: "a  b" });
    await app.waitFor(job_id);
    const button = page.locator(".namespaces button", { hasText: /^a\s+b/ });
    await button.click();
    await page.getByText("1 memory,").waitFor();
    // What somebody sees is what they type or copy.
    const shown = (await button.innerText()).split("\n")[0]!;
    assert.equal(shown, "a  b");
    await openUpkeep(page);
    const dialog = page.getByRole("dialog");
    const name = dialog.getByLabel("Namespace");
    await page.getByRole("button", { name: "Forget…" }).click();
    await name.fill(shown);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Forget…" }).click();
    assert.equal(await name.inputValue(), "", "what was typed before counts no more");
    await name.fill(shown);
    await dialog.getByRole("button", { name: "Forget everything" }).click();
    await page.getByText("Nothing here yet").waitFor();
  });
});
