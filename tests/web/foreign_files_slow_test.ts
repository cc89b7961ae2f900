import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { browserTest, complaints, screenshot } from "./chromium.ts";
import { signIn, withDashboard } from "./dashboard.ts";
import { chooseFile, makeApp, openUpkeep } from "./page.ts";

/** After the answers of `get_all` in the documentation of mem0. */
const MEM0 = JSON.stringify({
  results: [
    {
      id: "24e466b5-e1c6-4bde-8a92-f09a327ffa60",
      memory: "Dev works at TechCorp as a senior engineer",
      user_id: "dev",
      metadata: { type: "professional", nested: { a: 1 } },
      created_at: "2024-07-26T10:29:36.630547-07:00",
    },
    { id: "2", memory: "Dev works at TechCorp as a senior engineer", user_id: "dev" },
    { id: "3", memory: "Dev likes tea", user_id: "dev" },
  ],
});

const said = (role: string, text: string) => ({
  author: { role },
  create_time: 1_712_345_679.25,
  content: { content_type: "text", parts: [text] },
  recipient: "all",
  metadata: {},
});

/** A conversation as ChatGPT exports it, of these messages. */
function conversation(title: string, messages: readonly (readonly [string, string])[]) {
  const nodes = messages.map(([role, text], i) => [`n${i}`, {
    message: said(role, text),
    parent: i === 0 ? null : `n${i - 1}`,
    children: i === messages.length - 1 ? [] : [`n${i + 1}`],
  }]);
  return {
    title,
    create_time: 1_712_345_678.5,
    current_node: `n${messages.length - 1}`,
    mapping: Object.fromEntries(nodes),
  };
}

const CHATGPT = JSON.stringify([
  conversation("Food", [
    ["system", "You are helpful"],
    ["user", "My name is Dana and I am allergic to peanuts."],
    ["assistant", "I will keep that in mind."],
  ]),
  conversation("Travel", [["user", "I live in Oslo."], ["assistant", "Noted."]]),
]);

browserTest("memories of mem0 are looked at, and then imported", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    const found = complaints(page);
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    const loaded: string[] = [];
    page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
    await chooseFile(page, "plain.txt", "I like snow");
    await page.getByText("1 memory imported: 1 taken.").waitFor();
    assert.equal(loaded.includes("/importers.js"), false, "only other products need it");
    await chooseFile(page, "mem0.json", MEM0);
    const preview = page.getByRole("region", { name: "Before the import" });
    await preview.getByText("Recognised as mem0: 2 memories, out of 3 entries.").waitFor();
    await preview.getByRole("heading", { name: "Nothing is imported yet" })
      .and(page.locator(":focus")).waitFor();
    await preview.getByText("1: the same is in this file before (results[1])").waitFor();
    await preview.getByText("members of its metadata were left out").waitFor();
    await preview.getByText("Dev likes tea").waitFor();
    await screenshot(page, "preview_mem0");
    assert.equal((await app.memories()).total, 1);
    await preview.getByRole("button", { name: "Cancel" }).click();
    await preview.waitFor({ state: "detached" });
    await page.getByLabel("File").and(page.locator(":focus")).waitFor();

    await chooseFile(page, "mem0.json", MEM0);
    await preview.getByRole("button", { name: "Import 2 memories" }).click();
    await page.getByText("2 memories imported: 2 taken.").waitFor();
    await page.getByText("3 memories,").waitFor();
    const { memories } = await app.memories();
    const dev = memories.find(({ text }) => text?.startsWith("Dev works"));
    assert.equal(dev?.occurred_at, "2024-07-26T17:29:36.630Z");
    assert.deepEqual(dev?.metadata?.type, "professional");
    await chooseFile(page, "mem0.json", MEM0);
    await preview.getByRole("button", { name: "Import 2 memories" }).click();
    await page.getByText("2 memories imported: 2 already there.").waitFor();
    assert.deepEqual(found, []);
  });
});

browserTest("conversations of ChatGPT are read one after the other", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const app = await makeApp(page, relayer);
    await chooseFile(page, "conversations.json", CHATGPT);
    const preview = page.getByRole("region", { name: "Before the import" });
    await preview.getByText("Recognised as ChatGPT: 2 conversations, out of 5 entries.").waitFor();
    await preview.getByText("4 messages are read for facts by the relayer, in 2 requests")
      .waitFor();
    await preview.getByText("it is a message of the system").waitFor();
    await screenshot(page, "preview_chatgpt");
    const read = Promise.withResolvers<void>();
    let asked = 0;
    await page.route(`${relayer}/api/analyze`, async (route) => {
      if (++asked === 2) await read.promise;
      await route.continue();
    });
    await preview.getByRole("button", { name: "Import 2 conversations" }).click();
    await page.getByText("1 of 2 parts of conversations read").waitFor();
    await screenshot(page, "import_progress");
    read.resolve();
    await page.getByText("Imported: 2 of 2 parts of conversations read").waitFor();
    for (const fact of ["peanuts", "Oslo"]) {
      await page.locator("main li.memory", { hasText: fact }).waitFor();
    }
    const { memories } = await app.memories();
    assert.ok(memories.every(({ source }) => source === "analyze"));
  });
});

browserTest("of several files each is named, also one that cannot be read", async (browser) => {
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    await openUpkeep(page);
    const file = (name: string, content: string) => ({
      name,
      mimeType: "text/plain",
      buffer: Buffer.from(content),
    });
    await page.getByLabel("File").setInputFiles([
      file("mem0.json", MEM0),
      file("facts.txt", "I like snow\nI like tea"),
      file("broken.json", '{"results": ['),
    ]);
    const preview = page.getByRole("region", { name: "Before the import" });
    await preview.getByRole("region", { name: "broken.json" }).getByText("this is not JSON")
      .waitFor();
    await preview.getByRole("region", { name: "facts.txt" }).getByText("2 memories, line by line")
      .waitFor();
    await preview.getByRole("button", { name: "Import 4 memories" }).click();
    await page.getByText("4 memories imported: 4 taken.").waitFor();
    await page.getByLabel("File").setInputFiles([file("broken.json", '{"results": [')]);
    await page.getByRole("alert").getByText("broken.json: this is not JSON").waitFor();
  });
});

browserTest("notes are taken by paragraph, or line by line", async (browser) => {
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const notes = "# Food\n\nI like tea\nand snow.\n\n- no peanuts\n";
    await chooseFile(page, "notes.md", notes);
    const preview = page.getByRole("region", { name: "Before the import" });
    await preview.getByText("Recognised as notes in Markdown: 2 memories").waitFor();
    await preview.getByRole("button", { name: "Take each line as a memory instead" }).click();
    await page.getByText("4 memories imported: 4 taken.").waitFor();
    await chooseFile(page, "notes.md", notes);
    await preview.getByRole("button", { name: "Import 2 memories" }).click();
    await page.getByText("2 memories imported: 2 taken.").waitFor();
  });
});
