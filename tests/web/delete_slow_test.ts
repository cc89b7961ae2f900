import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { type Receipt, verifyReceipt } from "../../src/client/mod.ts";
import { poll } from "../within.ts";
import { browserTest, complaints, screenshot } from "./chromium.ts";
import { signIn, withDashboard } from "./dashboard.ts";
import { madeUpReceipt } from "./made_up_receipt.ts";
import { card, deletions, makeApp, openUpkeep, remember } from "./page.ts";

/** Deletes what a card shows; the pointer rests nowhere. */
async function deleteCard(page: Page, text: string): Promise<void> {
  await card(page, text).getByRole("button", { name: "Delete" }).click();
  await page.mouse.move(0, 0);
}

/** Notes every request by which something is deleted. */
function deletionsSent(page: Page): string[] {
  const sent: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "DELETE") sent.push(request.url());
  });
  return sent;
}

browserTest("a deletion is undone, and the memory is where it was", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    const found = complaints(page);
    const sent = deletionsSent(page);
    await page.clock.install();
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    const texts = ["I like tea", "I live in Oslo", "My sister is Ada"];
    for (const text of texts) await remember(page, text);
    await page.getByText("3 memories,").waitFor();
    const shown = () => page.locator("main li.memory .text").allInnerTexts();
    const before = await shown();
    await deleteCard(page, "Oslo");
    await card(page, "Oslo").waitFor({ state: "detached" });
    await page.getByText("2 memories,").waitFor();
    await deleteCard(page, "Ada");
    const bar = await deletions(page);
    assert.equal(await bar.getByRole("listitem").count(), 2);
    await screenshot(page, "undo");
    await page.clock.fastForward(4000);
    await bar.getByText(/Undo \(6 s\)/).first().waitFor();
    await bar.getByRole("button", { name: "Undo: I live in Oslo" }).click();
    await page.mouse.move(0, 0);
    await card(page, "Oslo").getByRole("button", { name: "Delete" }).and(page.locator(":focus"))
      .waitFor();
    await page.keyboard.press("Control+z");
    await card(page, "Ada").waitFor();
    assert.equal(await bar.count(), 0);
    await page.getByText("3 memories,").waitFor();
    assert.deepEqual(await shown(), before);
    await page.clock.fastForward(30_000);
    assert.deepEqual(sent, []);
    assert.equal((await app.memories()).total, 3);
    assert.deepEqual(found, []);
  });
});

browserTest("a deletion that is not undone is final, with a receipt", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await page.clock.install();
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    for (const text of ["I like tea", "I live in Oslo", "I like snow"]) await remember(page, text);
    const until = "2030-01-02T00:00:00.000Z";
    let kept = 0;
    await page.route(`${relayer}/api/memories/*`, async (route) => {
      if (route.request().method() !== "DELETE") return await route.continue();
      const answer = await (await route.fetch()).json();
      const survives = kept++ > 0 ? [] : [{ what: "blob" as const, until }];
      const receipt = madeUpReceipt([answer.memory_id], survives);
      await route.fulfill({
        headers: { "access-control-allow-origin": web },
        json: { ...answer, erased: survives.length === 0, receipt },
      });
    });
    const bar = await deletions(page);
    await deleteCard(page, "Oslo");
    await page.clock.runFor(10_500);
    await bar.getByText("An encrypted copy is still in the blob store until January 2, 2030")
      .waitFor();
    await deleteCard(page, "tea");
    await page.clock.runFor(10_500);
    await bar.getByText("Deleted for good. Nothing of it is left.").waitFor();
    await screenshot(page, "deleted_for_good");
    assert.equal((await app.memories()).total, 1);
    const saved = page.waitForEvent("download");
    await bar.getByRole("button", { name: "Receipt I live in Oslo" }).click();
    const download = await saved;
    assert.match(download.suggestedFilename(), /^svc-receipt-[0-9a-f]{8}\.json$/);
    const receipt: Receipt = JSON.parse(await Deno.readTextFile(await download.path()));
    assert.deepEqual(verifyReceipt(receipt).survives, [{ what: "blob", until }]);
    await bar.getByRole("button", { name: "Close all 2" }).click();
    await bar.waitFor({ state: "detached" });
    await page.getByText("1 memory,").waitFor();
  });
});

browserTest("what was corrected meanwhile is not deleted", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await page.clock.install();
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    await remember(page, "I like tea");
    const bar = await deletions(page);
    await deleteCard(page, "tea");
    const [memory] = (await app.memories()).memories;
    await app.updateMemory(memory!.memory_id, { text: "I like coffee" });
    await poll(() => app.memories(), ({ memories }) => memories[0]!.version === 2);
    await page.clock.runFor(10_500);
    await bar.getByText("Not deleted. Somebody else changed this memory meanwhile.").waitFor();
    assert.equal(await bar.getByRole("button", { name: "Try again" }).count(), 0);
    await card(page, "coffee").waitFor();
    assert.equal((await app.memories()).total, 1);
  });
});

browserTest(
  "a deletion that failed brings the memory back, and is tried again",
  async (browser) => {
    await withDashboard(async ({ web, relayer }) => {
      const page = await browser.newPage();
      await page.clock.install();
      await signIn(page, web);
      const app = await makeApp(page, relayer);
      await remember(page, "I like tea");
      await page.route(`${relayer}/api/memories/*`, (route) => route.abort());
      const bar = await deletions(page);
      await deleteCard(page, "tea");
      await page.clock.runFor(10_500);
      await bar.getByText("Not deleted. The relayer at").waitFor();
      await card(page, "tea").waitFor();
      await page.unroute(`${relayer}/api/memories/*`);
      await bar.getByRole("button", { name: "Try again" }).click();
      await bar.getByText("Deleted for good.").waitFor();
      assert.equal((await app.memories()).total, 0);
      await page.getByText("Nothing here yet").waitFor();
    });
  },
);

browserTest("what was deleted is deleted when the page is left", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    for (const text of ["I like tea", "I live in Oslo", "I like snow"]) await remember(page, text);
    await deleteCard(page, "Oslo");
    await deleteCard(page, "tea");
    await (await deletions(page)).getByText("Undo").nth(1).waitFor();
    assert.equal((await app.memories()).total, 3);
    await page.goto("about:blank");
    const left = await poll(async () => (await app.memories()).memories, (list) => list.length < 2);
    assert.deepEqual(left.map(({ text }) => text), ["I like snow"]);
    await page.goto(web);
    await page.getByText("1 memory,").waitFor();
  });
});

browserTest("a closed tab deletes what was deleted in it", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    // What closes with its tab is no browser: it ends requests that outlive the tab.
    const page = await (await browser.newContext()).newPage();
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    await remember(page, "I like tea");
    await deleteCard(page, "tea");
    await (await deletions(page)).getByText("Undo").waitFor();
    await page.close({ runBeforeUnload: true });
    await poll(async () => (await app.namespaces()).namespaces, (list) => list.length === 0);
  }, { SVC_RATE_LIMIT_DISABLED: "true" });
});

browserTest("a deletion that got lost with its tab is made up for", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const context = await browser.newContext();
    const first = await context.newPage();
    await signIn(first, web);
    const app = await makeApp(first, relayer);
    for (const text of ["I like tea", "I live in Oslo", "I like snow"]) await remember(first, text);
    // As where a whole browser is closed: nothing is sent any more.
    await first.evaluate(`{
      const real = fetch;
      globalThis.fetch = (url, init) =>
        init?.method === "DELETE" ? Promise.reject(new Error("gone")) : real(url, init);
    }`);
    await deleteCard(first, "tea");
    await deleteCard(first, "Oslo");
    // While its tab is there, another one leaves it alone.
    const second = await context.newPage();
    await second.goto(web);
    await second.getByText("3 memories,").waitFor();
    assert.equal((await app.memories()).total, 3);
    await first.keyboard.press("Control+z");
    await card(first, "Oslo").waitFor();
    await first.close();
    await second.getByText("2 memories,").waitFor();
    const bar = await deletions(second);
    await bar.getByText("Deleted for good.").waitFor();
    const { memories } = await app.memories();
    assert.deepEqual(memories.map(({ text }) => text).sort(), ["I like snow", "I live in Oslo"]);
    await second.reload();
    await second.getByText("2 memories,").waitFor();
    assert.equal(await bar.count(), 0);
  });
});

browserTest("the keyboard alone corrects, deletes and undoes", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await page.clock.install();
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    for (const text of ["I like tea", "I live in Oslo", "I like snow"]) await remember(page, text);
    const focused = (text: string, name: string) =>
      card(page, text).getByRole("button", { name }).and(page.locator(":focus")).waitFor();
    /** Presses Tab until a button has the focus. */
    const tabTo = async (text: string, name: string) => {
      const wanted = card(page, text).getByRole("button", { name }).and(page.locator(":focus"));
      for (let i = 0; i < 60 && await wanted.count() === 0; i++) await page.keyboard.press("Tab");
      await wanted.waitFor();
    };
    await tabTo("Oslo", "Edit");
    await page.keyboard.press("Enter");
    await page.getByLabel("Text of the memory").and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("I live in Bergen");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.clock.runFor(2000);
    await card(page, "Bergen").getByText("Changed").waitFor();
    await focused("Bergen", "Edit");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await card(page, "Bergen").waitFor({ state: "detached" });
    await focused("tea", "Delete");
    await page.keyboard.press("Control+z");
    await focused("Bergen", "Delete");
    await page.keyboard.press("Enter");
    // Through the bar: while it has the focus the time stands still.
    const undo = page.getByRole("button", { name: "Undo: I live in Bergen" });
    for (let i = 0; i < 60 && await undo.and(page.locator(":focus")).count() === 0; i++) {
      await page.keyboard.press("Tab");
    }
    await page.clock.runFor(60_000);
    await page.keyboard.press("Enter");
    await focused("Bergen", "Delete");
    assert.equal((await app.memories()).total, 3);
  });
});

browserTest("a namespace is forgotten by its exact name, with its blanks", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    for (const namespace of ["work", " work "]) {
      const items = ["I like tea", "I live in Oslo"].map((text) => ({ text, namespace }));
      await app.waitForAll((await app.rememberBulk(items)).job_ids);
    }
    await page.locator(".namespaces button", { hasText: "“ work ”" }).click();
    await page.getByText("2 memories,").waitFor();
    await openUpkeep(page);
    await page.getByRole("button", { name: "Forget…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Forget 2 memories?").waitFor();
    await dialog.getByText("Its blanks belong to the name").waitFor();
    await dialog.getByLabel("Namespace").fill("work");
    await dialog.getByRole("button", { name: "Forget everything" }).click();
    await dialog.getByText("The name does not match").waitFor();
    await screenshot(page, "forget");
    await dialog.getByLabel("Namespace").fill(" work ");
    await dialog.getByRole("button", { name: "Forget everything" }).click();
    const bar = await deletions(page);
    await bar.getByText("2 memories in “ work ” deleted for good.").waitFor();
    const saved = page.waitForEvent("download");
    await bar.getByRole("button", { name: "Receipt" }).click();
    const receipt: Receipt = JSON.parse(await Deno.readTextFile(await (await saved).path()));
    const { public_key: key } = await app.receiptKey();
    const { namespace, memory_ids, erased } = verifyReceipt(receipt, key);
    assert.equal(namespace, " work ");
    assert.equal(memory_ids.length, 2);
    const words = erased ? "Nothing of it is left." : "still in the relayer's files";
    await bar.getByText(words).waitFor();
    assert.equal((await app.memories({ namespace: "work" })).total, 2);
    assert.equal((await app.memories({ namespace: " work " })).total, 0);
  });
});
