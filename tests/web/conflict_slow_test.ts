import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";
import type { SvcClient } from "../../src/client/mod.ts";
import { browserTest, complaints } from "./chromium.ts";
import { signIn, withDashboard } from "./dashboard.ts";
import { look } from "./look.ts";
import { makeApp } from "./page.ts";

const BERLIN = "I live in Berlin";
const LISBON = "I moved to Lisbon";
/** The embedder of users: it knows how sure it is. */
const BUILT_IN = { SVC_EMBEDDER: "use-lite" };
const QUESTION = "where do I live";

/** Saves a text as an app does, and waits until it is recalled. */
async function save(app: SvcClient, text: string, fields = {}): Promise<string> {
  const { job_id, memory_id } = await app.remember(text, fields);
  await app.waitFor(job_id);
  return memory_id;
}

/** Saves what has nothing to do with it: among so few memories everything would be near. */
async function saveOthers(app: SvcClient): Promise<void> {
  for (const text of ["I am allergic to peanuts", "I like tea", "My sister Ada plays chess"]) {
    await save(app, text);
  }
}

/** Saves a memory and corrects it, so that it has a history. */
async function saveBerlin(app: SvcClient, fields = {}): Promise<string> {
  const id = await save(app, "I live in Bonn", fields);
  const { job_id } = await app.updateMemory(id, { text: BERLIN });
  await app.waitFor(job_id);
  return id;
}

/** What an app is told. */
async function told(app: SvcClient): Promise<readonly string[]> {
  const { results } = await app.recall(QUESTION);
  return results.map(({ text }) => text).filter((text) => text === BERLIN || text === LISBON);
}

async function search(page: Page, query: string): Promise<void> {
  await page.getByLabel("Search by meaning").fill(query);
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Matches" }).getByText(query).waitFor();
}

/** Goes on by the keyboard alone until a button has the focus, and presses it. */
async function press(page: Page, name: string): Promise<void> {
  const button = page.getByRole("button", { name, exact: true }).and(page.locator(":focus"));
  for (let i = 0; i < 60 && await button.count() === 0; i++) await page.keyboard.press("Tab");
  assert.equal(await button.count(), 1, `no key leads to ${name}`);
  await page.keyboard.press("Enter");
}

/** Has a page and an app of one account, whose memories the built-in embedder reads. */
async function withApp(
  browser: Browser,
  test: (page: Page, app: SvcClient) => Promise<void>,
  /** What a complaint of the page may hold. */
  expected: readonly string[] = [],
): Promise<void> {
  await withDashboard(async ({ web, relayer }) => {
    const page = await (await browser.newContext({ reducedMotion: "reduce" })).newPage();
    const found = complaints(page);
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    await saveOthers(app);
    await test(page, app);
    assert.deepEqual(found.filter((one) => !expected.some((part) => one.includes(part))), []);
  }, BUILT_IN);
}

browserTest(
  "two memories that disagree are one card, and settled by the keyboard",
  async (browser) => {
    await withApp(browser, async (page, app) => {
      await saveBerlin(app, { valid_from: "2024-02-01T00:00:00Z" });
      await save(app, LISBON, { trust: "agent" });
      assert.deepEqual(await told(app), [LISBON, BERLIN]);

      const listed = page.getByRole("region", { name: "Memories" });
      await listed.getByRole("heading", { name: "Two memories disagree" }).waitFor();
      const wrong = await look(page, "disagreement_listed");
      await search(page, QUESTION);
      const card = page.getByRole("region", { name: "Matches" }).locator("li.memory");
      await card.getByRole("heading", { name: "Two memories disagree" }).waitFor();
      assert.equal(await card.count(), 1, "one card with both");
      assert.deepEqual(await card.locator(".text").allInnerTexts(), [LISBON, BERLIN]);
      await card.getByText("since February 1, 2024").waitFor();
      await card.getByText("noted by an AI app").waitFor();
      const ends = (await app.publicKey()).slice(-8);
      await card.getByText(`by Cursor …${ends}`).first().waitFor();
      await card.getByText("fits well").first().waitFor();
      await press(page, "History");
      await card.getByRole("region", { name: "History" }).getByText("I live in Bonn").first()
        .waitFor();
      wrong.push(...await look(page, "disagreement"));

      await press(page, "The newer one is right");
      await card.getByText("Only this one counts now").waitFor();
      assert.deepEqual(await told(app), [LISBON]);
      const replaced = card.getByRole("region", { name: "What it replaced" });
      await replaced.locator(".text").waitFor();
      assert.deepEqual(await replaced.locator(".text").allInnerTexts(), [BERLIN]);
      wrong.push(...await look(page, "disagreement_settled"));

      await press(page, `Keep both ${BERLIN}`);
      await card.getByRole("heading", { name: "You keep both" }).waitFor();
      assert.deepEqual([...await told(app)].sort(), [BERLIN, LISBON]);
      wrong.push(...await look(page, "disagreement_kept"));

      await press(page, "Decide again");
      await card.getByRole("heading", { name: "Two memories disagree" }).waitFor();
      await press(page, "The older one is right");
      await card.getByText("Only this one counts now").waitFor();
      assert.deepEqual(await told(app), [BERLIN]);
      await replaced.locator(".text").waitFor();
      assert.deepEqual(await replaced.locator(".text").allInnerTexts(), [LISBON]);
      await replaced.getByRole("button", { name: `The newer one is right ${LISBON}` }).waitFor();
      assert.deepEqual(wrong, []);
    });
  },
);

browserTest(
  "what was replaced is over: shown when it is wanted, or as of a day",
  async (browser) => {
    await withApp(browser, async (page, app) => {
      const berlin = await saveBerlin(app, { valid_from: "2024-02-01T00:00:00Z" });
      await save(app, LISBON, { supersedes: [berlin], valid_from: "2026-03-01T00:00:00Z" });

      const cards = page.getByRole("region", { name: "Memories" }).locator("li.memory");
      await page.getByText("4 memories,").waitFor();
      await page.getByText("Show what is over (1)").waitFor();
      const lisbon = cards.filter({ hasText: LISBON });
      await lisbon.getByText("true since March 1, 2026").waitFor();
      assert.equal(await cards.filter({ hasText: BERLIN }).count(), 0);
      const over = page.getByLabel("Show what is over");
      await over.focus();
      await page.keyboard.press("Space");
      await lisbon.getByText("Before February 1, 2024 – March 1, 2026").waitFor();
      assert.equal(await cards.count(), 4, "what was replaced is in the card of what replaced it");
      const wrong = await look(page, "over");

      await search(page, QUESTION);
      const matches = page.getByRole("region", { name: "Matches" });
      await matches.locator(".text", { hasText: BERLIN }).waitFor();
      assert.equal(await matches.locator(":scope > ul > li.memory").count(), 1);
      await over.focus();
      await page.keyboard.press("Space");
      await matches.locator(".text", { hasText: BERLIN }).waitFor({ state: "detached" });
      await matches.getByRole("button", { name: "Show what it replaced (1)" }).waitFor();

      await page.getByLabel("As of").fill("2025-06-01");
      await matches.locator(".text", { hasText: BERLIN }).waitFor();
      assert.equal(await matches.locator(".text", { hasText: LISBON }).count(), 0);
      assert.equal(await matches.getByRole("button", { name: "is right" }).count(), 0);
      wrong.push(...await look(page, "as_of"));
      await press(page, "Back to now");
      await matches.locator(".text", { hasText: LISBON }).waitFor();

      await page.getByLabel("Search by meaning").focus();
      await search(page, "how old is my car?");
      await matches.getByRole("heading", { name: "Nothing close enough for" }).waitFor();
      assert.equal(await matches.locator("li.memory").count(), 2);
      wrong.push(...await look(page, "nothing_close"));
      await press(page, "Show 2 more that hardly fit");
      await matches.getByText("hardly fits").first().waitFor();
      assert.equal(await matches.locator("li.memory").count(), 4);
      assert.deepEqual(wrong, []);
    });
  },
);

browserTest("what cannot be settled is said, where what was pressed is gone", async (browser) => {
  await withApp(browser, async (page, app) => {
    const berlin = await saveBerlin(app);
    await save(app, LISBON, { supersedes: [berlin] });
    await search(page, QUESTION);
    await press(page, "Show what it replaced (1)");
    const card = page.getByRole("region", { name: "Matches" }).locator("li.memory");
    const keep = card.getByRole("button", { name: "Keep both" });
    await keep.waitFor();
    await app.deleteMemory(berlin);
    await press(page, `Keep both ${BERLIN}`);
    await card.getByRole("alert").getByText("This memory is not there any more").waitFor();
    await keep.waitFor({ state: "detached" });
    await card.and(page.locator(":focus")).waitFor();
    assert.deepEqual(await told(app), [LISBON]);
  }, ["404"]);
});

browserTest("what was deleted gives its place back, and the search shows it", async (browser) => {
  await withApp(browser, async (page, app) => {
    await page.clock.install();
    const berlin = await saveBerlin(app);
    await save(app, LISBON, { supersedes: [berlin] });
    await search(page, QUESTION);
    const texts = page.getByRole("region", { name: "Matches" }).locator(".text");
    await texts.getByText(LISBON).waitFor();
    await press(page, `Delete ${LISBON}`);
    await texts.getByText(LISBON).waitFor({ state: "detached" });
    await page.mouse.move(0, 0);
    await page.clock.runFor(10_500);
    await texts.getByText(BERLIN).waitFor();
    assert.deepEqual(await told(app), [BERLIN]);
  });
});
