import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { SvcClient } from "../../src/client/mod.ts";
import { browserTest, complaints } from "./chromium.ts";
import { inHome, Program, relayerEnv } from "../program.ts";
import { signIn, withDashboard } from "./dashboard.ts";
import { freePort } from "../free_port.ts";
import { card, chooseFile, openUpkeep } from "./page.ts";

async function remember(page: Page, text: string): Promise<void> {
  await page.getByLabel("Remember something").fill(text);
  await page.getByRole("button", { name: "Remember" }).click();
}

browserTest("memories are saved, found and deleted in the page", async (browser) => {
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    const found = complaints(page);
    await signIn(page, web);
    await remember(page, "I am allergic to peanuts");
    await page.getByText("Saved", { exact: true }).waitFor();
    await card(page, "peanuts").waitFor();
    await page.getByText("1 memory,").waitFor();

    await page.getByLabel("Search by meaning").fill("peanuts");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("heading", { name: "1 match for “peanuts”" }).waitFor();
    assert.match(await page.locator(".match").innerText(), /score 0\.\d\d/);

    await page.getByRole("button", { name: "Delete" }).first().click();
    await page.getByRole("heading", { name: "0 matches" }).waitFor();
    await page.getByRole("button", { name: "Show all memories" }).click();
    await page.getByText("Nothing here yet").waitFor();
    assert.deepEqual(found, []);
  });
});

browserTest(
  "memories that are found by words only are said to be, with what to do",
  async (browser) => {
    await withDashboard(async ({ web }) => {
      const page = await browser.newPage();
      const found = complaints(page);
      await signIn(page, web);
      await remember(page, "I am allergic to peanuts");
      await card(page, "peanuts").waitFor();
      const hint = page.getByText("Found by words only");
      assert.equal(await hint.count(), 0);
      await remember(page, "Ich wohne in Berlin");
      await hint.waitFor();
      assert.equal(
        await hint.innerText(),
        "Found by words only: the relayer's embedder does not read German. svc model get " +
          "multilingual-e5-small fetches a model that reads about 100 languages; SVC_EMBEDDER=onnx " +
          "starts with it.",
      );
      assert.deepEqual(found, []);
    }, { SVC_EMBEDDER: "use-lite" });
  },
);

browserTest("what is typed while a memory is being accepted stays", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const answer = Promise.withResolvers<void>();
    await page.route(`${relayer}/api/remember`, async (route) => {
      await answer.promise;
      await route.continue();
    });
    await remember(page, "I am allergic to peanuts");
    const field = page.getByLabel("Remember something");
    await field.fill("My sister is Ada");
    answer.resolve();
    await card(page, "peanuts").waitFor();
    assert.equal(await field.inputValue(), "My sister is Ada");
    await page.getByRole("button", { name: "Remember" }).click();
    await card(page, "Ada").waitFor();
    assert.equal(await field.inputValue(), "");
  });
});

browserTest("a memory that was accepted unheard is not saved again", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    let sent = 0;
    await page.route(`${relayer}/api/remember`, async (route) => {
      if (++sent === 1) await route.fetch();
      await route.abort();
    });
    await remember(page, "I am allergic to peanuts");
    await page.getByRole("alert").getByText("cannot be reached").waitFor();
    await page.unroute(`${relayer}/api/remember`);
    await page.getByRole("button", { name: "Remember" }).click();
    await page.getByText("Saved", { exact: true }).waitFor();
    await page.getByText("1 memory,").waitFor();
    await card(page, "peanuts").waitFor();
  });
});

browserTest("a deleted memory is counted no more", async (browser) => {
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    await page.clock.install();
    await signIn(page, web);
    await importLines(page, ["I like tea", "I live in Oslo"]);
    const counted = (text: string) =>
      page.getByRole("navigation", { name: "Namespaces" }).getByRole("button", { name: text });
    await counted("default 2 memories").waitFor();
    await page.locator("main li.memory").nth(1).waitFor();
    // A page that nobody sees refreshes nothing by itself.
    await page.evaluate(
      `Object.defineProperty(document, "visibilityState", { get: () => "hidden" })`,
    );
    const deleteOne = async () => {
      await page.locator("main li.memory").getByRole("button", { name: "Delete" }).first().click();
      await page.mouse.move(0, 0);
      await page.clock.runFor(10_500);
    };
    await deleteOne();
    await counted("default 1 memory").waitFor();
    await deleteOne();
    await page.getByText("Nothing here yet").waitFor();
    await counted("default 0 memories").waitFor();
  });
});

browserTest("what is there already is not saved again, and the page says so", async (browser) => {
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    await remember(page, "I am allergic to peanuts");
    await card(page, "peanuts").getByRole("button", { name: "Edit" }).waitFor();
    await remember(page, "i am allergic to peanuts.");
    await page.getByText("There already").waitFor();
    await card(page, "peanuts").getByRole("button", { name: "Edit" }).waitFor();
    await page.getByText("1 memory,").waitFor();
  });
});

/** Puts a text file with a memory on each line into the open page. */
async function importLines(page: Page, lines: readonly string[]): Promise<void> {
  await chooseFile(page, "facts.txt", lines.join("\n"));
  await page.getByText(`${lines.length} memories imported: ${lines.length} taken.`).waitFor();
}

const MARKUP = `<img src=x onerror="document.title='run'"><script>run()</script><b>bold</b> &amp;`;

browserTest("what a memory or a namespace holds is shown as text", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    const found = complaints(page);
    await signIn(page, web);
    await page.getByRole("link", { name: "Apps" }).click();
    await page.getByLabel("Name of the app").fill("Cursor");
    await page.getByRole("button", { name: "Make a key" }).click();
    const privateKey = await page.getByLabel("Key of Cursor").innerText();
    const client = new SvcClient({ baseUrl: relayer, privateKey });
    const { job_id } = await client.remember(MARKUP, { namespace: MARKUP });
    await client.waitFor(job_id);
    await page.getByRole("link", { name: "Memories" }).click();
    await page.locator(".namespaces button", { hasText: MARKUP }).click();
    await card(page, MARKUP).waitFor();
    assert.equal(await page.locator(".memory .text").innerText(), MARKUP);
    await page.getByLabel("Search by meaning").fill(MARKUP);
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("heading", { name: "1 match for" }).waitFor();
    await page.getByRole("button", { name: "Delete" }).first().click();
    await page.getByRole("region", { name: "Deleted just now" }).getByText("<img src=x").waitFor();
    assert.equal(await page.locator("main img, main script, main b").count(), 0);
    assert.equal(await page.title(), "Memories · svc");
    assert.deepEqual(found, []);
  });
});

browserTest("a file is imported, the search repaired, a namespace forgotten", async (browser) => {
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    await importLines(page, Array.from({ length: 45 }, (_, i) => `fact number ${i}`));
    await page.getByText("45 memories,").waitFor();
    assert.equal(await page.getByRole("progressbar", { name: "Import" }).getAttribute("max"), "45");

    await page.getByRole("button", { name: "Repair" }).click();
    await page.getByText(/records looked at, 0 put back/).waitFor();

    await page.getByRole("button", { name: "Forget…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Forget everything" }).click();
    await dialog.getByText("The name does not match").waitFor();
    await dialog.getByLabel("Namespace").fill("default");
    await dialog.getByRole("button", { name: "Forget everything" }).click();
    await page.getByText("Nothing here yet").waitFor();
  });
});

browserTest("of two imports only the last one's outcome is shown", async (browser) => {
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    await importLines(page, ["I like tea", "I live in Oslo"]);
    await chooseFile(page, "empty.txt", "\n");
    await page.getByRole("alert").getByText("There is nothing to import in this file").waitFor();
    assert.equal(await page.getByText("memories imported").count(), 0);
    assert.equal(await page.getByRole("progressbar", { name: "Import" }).count(), 0);
  });
});

browserTest("a relayer that is gone is named, and its return noticed", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    await page.route(`${relayer}/**`, (route) => route.abort());
    await page.getByRole("alert").getByText("cannot be reached").first().waitFor();
    await page.unroute(`${relayer}/**`);
    await page.getByRole("alert").first().waitFor({ state: "hidden" });
  });
});

/** Every value a progress bar shows, as text. */
const WATCH_REPAIR = `{
  const seen = globalThis.seenProgress = [];
  new MutationObserver(() => {
    const bar = document.querySelector("progress[aria-label=Repair]");
    const text = bar && (bar.hasAttribute("value") ? bar.value + "/" + bar.max : "begun");
    if (text && seen.at(-1) !== text) seen.push(text);
  }).observe(document, { subtree: true, childList: true, attributes: true });
}`;

browserTest("records that the search lost are put back, step by step", async (browser) => {
  await inHome(async (home) => {
    const web = `http://localhost:${freePort()}`;
    const env = {
      ...relayerEnv(home),
      SVC_PORT: String(freePort()),
      SVC_WEB_PORT: new URL(web).port,
    };
    const lines = Array.from({ length: 60 }, (_, i) => `fact number ${i}`);
    const page = await browser.newPage();
    {
      await using program = new Program(["start"], env);
      await program.event("dashboard");
      await signIn(page, web);
      await importLines(page, lines);
      await page.getByText("60 memories,").waitFor();
    }
    for (const ending of ["", "-wal", "-shm"]) {
      await Deno.remove(`${home}/.svc/relayer/index.db${ending}`).catch(() => undefined);
    }
    await using program = new Program(["start"], env);
    await program.event("dashboard");
    await page.goto(web);
    await page.getByText("Nothing here yet").waitFor();
    await openUpkeep(page);
    await page.evaluate(WATCH_REPAIR);
    await page.getByRole("button", { name: "Repair" }).click();
    await page.getByText("60 records looked at, 60 put back.").waitFor();
    assert.deepEqual(await page.evaluate("seenProgress"), ["begun", "25/60", "50/60", "60/60"]);
    await page.getByText("60 memories,").waitFor();
    await page.getByLabel("Search by meaning").fill("fact number 7");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("region", { name: "Matches" })
      .locator(".memory", { hasText: /fact number 7$/m }).first().waitFor();
  });
});

browserTest("a text from right to left is shown that way", async (browser) => {
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const direction = (locator: Locator) =>
      locator.evaluate((element) => Reflect.get(globalThis, "getComputedStyle")(element).direction);
    await remember(page, "I like tea");
    await card(page, "tea").waitFor();
    assert.equal(await direction(card(page, "tea").locator(".text")), "ltr");
    await page.getByLabel("Remember something").fill("أحب الشاي!");
    assert.equal(await direction(page.getByLabel("Remember something")), "rtl");
    await page.getByRole("button", { name: "Remember" }).click();
    await card(page, "الشاي").waitFor();
    assert.equal(await direction(card(page, "الشاي").locator(".text")), "rtl");
  });
});

browserTest("a search that was given up shows nothing when it is answered", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const answer = Promise.withResolvers<void>();
    await page.route(`${relayer}/api/recall`, async (route) => {
      await answer.promise;
      await route.continue();
    });
    const field = page.getByLabel("Search by meaning");
    await field.fill("peanuts");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("button", { name: "Searching…" }).waitFor();
    await field.fill("");
    answer.resolve();
    await page.getByRole("button", { name: "Search", exact: true }).waitFor();
    await page.getByText("Nothing here yet").waitFor();
    assert.equal(await page.getByRole("region", { name: "Matches" }).count(), 0);
  });
});

/** An embedder that nobody serves: what is accepted waits. */
const NO_EMBEDDER = {
  SVC_EMBEDDER: "ollama",
  SVC_OLLAMA_URL: "http://127.0.0.1:1",
  SVC_OLLAMA_EMBEDDING_MODEL: "none",
  SVC_EMBEDDING_DIMENSIONS: "8",
};

browserTest("what was forgotten while it was being saved is shown no more", async (browser) => {
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    await remember(page, "I am allergic to peanuts");
    const waiting = page.locator("li.memory", { hasText: "peanuts" });
    await waiting.getByText("Reading and encrypting").waitFor();
    await openUpkeep(page);
    await page.getByRole("button", { name: "Forget…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Namespace").fill("default");
    await dialog.getByRole("button", { name: "Forget everything" }).click();
    await waiting.waitFor({ state: "detached" });
  }, NO_EMBEDDER);
});

browserTest("a memory that cannot be tried again says why", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    await page.route(`${relayer}/api/remember/bulk/status`, async (route) => {
      const { results: [job] } = await (await route.fetch()).json();
      const failed = { ...job, status: "failed", error: "The text could not be embedded" };
      await route.fulfill({
        headers: { "access-control-allow-origin": web },
        json: { results: [failed] },
      });
    });
    await remember(page, "I am allergic to peanuts");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator("li.memory").getByRole("alert").waitFor();
  }, NO_EMBEDDER);
});
