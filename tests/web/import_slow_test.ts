import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { browserTest, complaints } from "./chromium.ts";
import { signIn, withDashboard } from "./dashboard.ts";
import { card, chooseFile, deletions, makeApp, openUpkeep, remember } from "./page.ts";

const facts = (n: number) => Array.from({ length: n }, (_, i) => `fact number ${i}`);

browserTest("a line that the relayer refuses does not end an import", async (browser) => {
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    const found = complaints(page);
    await signIn(page, web);
    const lines = facts(245).map((text) => JSON.stringify({ text }));
    lines[3] = JSON.stringify({ text: "it ended", expires_at: "2020-01-01T00:00:00Z" });
    lines[230] = JSON.stringify({ text: "too important", importance: 7 });
    await chooseFile(page, "facts.ndjson", lines.join("\n"));
    await page.getByText("245 memories imported: 243 taken,").waitFor();
    await page.getByText("1 refused").first().waitFor();
    await page.getByText("Why 1 was refused").click();
    await page.getByText("line 231: importance").waitFor();
    await page.getByText("243 memories,").waitFor();
    assert.deepEqual(found, []);
  });
});

browserTest("long lines are sent in as many requests as they need", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const bodies: number[] = [];
    page.on("request", (request) => {
      if (request.url() !== `${relayer}/api/import` || request.method() !== "POST") return;
      bodies.push(request.postDataBuffer()?.length ?? 0);
    });
    const lines = facts(24).map((text) => text + "x".repeat(150_000));
    await chooseFile(page, "long.txt", lines.join("\n"));
    await page.getByText("24 memories imported: 24 taken.").waitFor();
    await page.getByText("24 memories,").waitFor();
    assert.equal(bodies.length, 4);
    for (const bytes of bodies) assert.ok(bytes <= 1_048_576, `${bytes}`);
  });
});

browserTest("an import that broke off goes on, and saves nothing twice", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    let sent = 0;
    await page.route(`${relayer}/api/import`, async (route) => {
      if (++sent === 1) return await route.continue();
      // The relayer takes them, and nobody hears of it.
      if (sent === 2) await route.fetch();
      await route.abort();
    });
    await chooseFile(page, "facts.txt", facts(450).join("\n"));
    const goOn = page.getByRole("button", { name: "Go on with the rest" });
    await goOn.waitFor();
    await page.getByText("Stopped after 200 of 450 memories: 200 taken.").waitFor();
    await page.unroute(`${relayer}/api/import`);
    await goOn.click();
    await page.getByText("450 memories imported: 450 taken.").waitFor();
    await page.getByText("450 memories,").waitFor();
    await goOn.waitFor({ state: "detached" });
    // The same file once more.
    await chooseFile(page, "facts.txt", facts(450).join("\n"));
    await page.getByText("450 memories imported: 450 already there.").waitFor();
  });
});

browserTest("an import waits for the relayer's limits, whatever is looked at", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await page.clock.install();
    await signIn(page, web);
    let refused = 0;
    await page.route(`${relayer}/api/import`, async (route) => {
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
    await chooseFile(page, "facts.txt", facts(30).join("\n"));
    await page.getByText("0 of 30 memories: sending…").waitFor();
    await page.getByText("goes on by itself in").waitFor();
    await page.getByRole("link", { name: "Apps" }).click();
    await page.locator(".key").first().waitFor();
    await page.getByRole("link", { name: "Memories" }).click();
    await openUpkeep(page);
    await page.getByText("0 of 30 memories").waitFor();
    assert.equal(await page.getByLabel("File").isDisabled(), true);
    await page.clock.fastForward(60_000);
    await page.getByText("30 memories imported: 30 taken.").waitFor();
    await page.getByText("30 memories,").waitFor();
  });
});

browserTest("an import is stopped, and goes on", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    let sent = 0;
    await page.route(`${relayer}/api/import`, async (route) => {
      if (++sent === 2) {
        asked.resolve();
        await answer.promise;
      }
      await route.continue().catch(() => undefined);
    });
    await chooseFile(page, "facts.txt", facts(450).join("\n"));
    await asked.promise;
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped after 200 of 450 memories: 200 taken.").waitFor();
    answer.resolve();
    assert.equal(await page.getByRole("alert").count(), 0);
    await page.getByRole("button", { name: "Go on with the rest" }).click();
    await page.getByText("450 memories imported: 450 taken.").waitFor();
  });
});

browserTest("what was deleted here comes back only when that is wanted", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await page.clock.install();
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    await remember(page, "I like tea");
    await remember(page, "I live in Oslo");
    const lines: string[] = [];
    for await (const line of app.exportMemories()) lines.push(JSON.stringify(line));
    await card(page, "tea").getByRole("button", { name: "Delete" }).click();
    const bar = await deletions(page);
    await page.clock.runFor(10_500);
    await bar.getByText("Deleted for good.").waitFor();
    await chooseFile(page, "export.ndjson", lines.join("\n"));
    await page.getByText("2 memories imported: 1 already there, 1 deleted here earlier.").waitFor();
    assert.equal((await app.memories()).total, 1);
    await page.getByRole("button", { name: "Bring the deleted one back" }).click();
    await page.getByText("2 memories imported: 1 taken, 1 already there.").waitFor();
    await card(page, "tea").waitFor();
  });
});

browserTest(
  "a file with a broken line, or in another encoding, damages nothing",
  async (browser) => {
    await withDashboard(async ({ web }) => {
      const page = await browser.newPage();
      await signIn(page, web);
      await chooseFile(page, "cut.ndjson", '{"text":"I like tea"}\n{"text":"I live i');
      await page.getByText("1 memory imported: 1 taken.").waitFor();
      await page.getByText("cut.ndjson: 1 line holds no memory (line 2).").waitFor();
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
