import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";
import type { SvcClient } from "../../src/client/mod.ts";
import { poll } from "../within.ts";
import { browserTest, complaints } from "./chromium.ts";
import { signIn, withDashboard } from "./dashboard.ts";
import { chooseFile, makeApp, openUpkeep } from "./page.ts";

const LINES = 5000;

/** Presses a button that makes a file; answers its text. */
async function exported(page: Page, button: string | RegExp): Promise<string> {
  await openUpkeep(page);
  const saved = page.waitForEvent("download", { timeout: 120_000 });
  await page.getByRole("button", { name: button }).click();
  return await Deno.readTextFile(await (await saved).path());
}

/** Lines of an export, without what differs from relayer to relayer. */
const memoriesIn = (content: string) =>
  content.split("\n").filter((line) => line.includes('"type":"memory"')).sort().map((line) => {
    const { written_by: _, written_by_label: __, ...memory } = JSON.parse(line);
    return memory;
  });

/** Notes how long the page did nothing else than one thing, in milliseconds. */
const WATCH_TASKS = `{
  globalThis.longest = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
  }).observe({ entryTypes: ["longtask"] });
}`;

/** Waits until everything that was accepted is saved. */
const settled = (app: SvcClient) =>
  poll(() => app.stats(), ({ pending }) => pending === 0, 240_000);

async function importInto(browser: Browser, content: string): Promise<string> {
  let again = "";
  await withDashboard(async ({ web, relayer }) => {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(120_000);
    const found = complaints(page);
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    await page.evaluate(WATCH_TASKS);
    await chooseFile(page, "facts.ndjson", content);
    await page.getByText("5,000 memories imported: ").waitFor();
    const longest = Number(await page.evaluate("longest"));
    assert.ok(longest < 1000, `the page stood still for ${longest} ms`);
    await settled(app);
    again = await exported(page, "Export everything");
    await page.getByText("5,000 memories exported").waitFor();
    assert.deepEqual(found, []);
  });
  return again;
}

browserTest("5,000 memories go out of a relayer and into another", async (browser) => {
  const facts = Array.from({ length: LINES }, (_, i) =>
    JSON.stringify({
      text: `fact number ${i}`,
      importance: (i % 10) / 10,
      created_at: new Date(1_700_000_000_000 + i * 60_000).toISOString(),
    }));
  const first = await importInto(browser, facts.join("\n"));
  const second = await importInto(browser, first);
  assert.equal(memoriesIn(first).length, LINES);
  assert.deepEqual(memoriesIn(second), memoriesIn(first));
  assert.match(second, /\{"type":"end","memories":5000,"errors":0\}\n$/);
});

browserTest(
  "an export goes back where it came from, or all into one namespace",
  async (browser) => {
    await withDashboard(async ({ web, relayer }) => {
      const page = await browser.newPage();
      await signIn(page, web);
      const app = await makeApp(page, relayer);
      for (const [namespace, text] of [["work", "I like tea"], ["default", "I live in Oslo"]]) {
        await app.waitFor((await app.remember(text!, { namespace })).job_id);
      }
      // What only its app can read.
      const { vector } = await app.embed("secret");
      await app.rememberManual({ encrypted_data: "c2VjcmV0", vector });
      await page.getByText("2 memories,").waitFor();
      const content = await exported(page, "Export everything");
      await page.getByText("2 memories exported").waitFor();
      await page.getByText("1 memory is not in it: the app that saved it encrypted it").waitFor();
      assert.equal(memoriesIn(content).length, 2);
      const one = await exported(page, /^Export default/);
      assert.deepEqual(memoriesIn(one).length, 1);

      await app.forget("work");
      await chooseFile(page, "export.ndjson", content);
      const preview = page.getByRole("region", { name: "Before the import" });
      await preview.getByRole("radio", { name: "where the file says: work" }).waitFor();
      await preview.getByRole("button", { name: "Import 2 memories" }).click();
      await page.getByText("2 memories imported: 1 already there, 1 deleted here earlier.")
        .waitFor();
      await page.getByText("1 memory was left out when it was exported.").waitFor();
      await page.getByRole("button", { name: "Bring the deleted one back" }).click();
      await page.getByText("2 memories imported: 1 taken, 1 already there.").waitFor();
      await poll(() => app.stats("work"), ({ memory_count: count }) => count === 1);

      await chooseFile(page, "export.ndjson", content);
      await preview.getByRole("radio", { name: "all into default" }).check();
      await preview.getByRole("button", { name: "Import 2 memories" }).click();
      await page.getByText("2 memories imported: 1 taken, 1 already there.").waitFor();
      await poll(
        () => app.memories(),
        ({ memories }) => memories.filter(({ text }) => text === "I like tea").length === 1,
      );
    });
  },
);

browserTest("an export that ended too early is no file", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    await app.waitFor((await app.remember("I like tea")).job_id);
    let saved = 0;
    page.on("download", () => saved++);
    await page.route(`${relayer}/api/export`, async (route) => {
      if (route.request().method() !== "POST") return await route.continue();
      const response = await route.fetch();
      const body = (await response.text()).split("\n").slice(0, 2).join("\n");
      await route.fulfill({ response, body });
    });
    await openUpkeep(page);
    await page.getByRole("button", { name: "Export everything" }).click();
    await page.getByRole("alert").getByText("is not whole: there is no file").waitFor();
    assert.equal(await page.getByRole("button", { name: "Save the file again" }).count(), 0);
    assert.equal(saved, 0);
    await chooseFile(page, "cut.ndjson", '{"type":"header"}\n{"text":"I live in Oslo"}\n');
    await page.getByText("cut.ndjson is an export whose end is missing").waitFor();
  });
});
