import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { startDevnet } from "../../devnet/mod.ts";
import { SvcClient } from "../../src/client/client.ts";
import { textOf } from "../cli/bridge/host_peer.ts";
import { packageStart, StdioPackage } from "../e2e/stdio.ts";
import { inHome } from "../program.ts";
import { verifies } from "../requirements.ts";
import { browserTest, complaints, screenshot } from "./chromium.ts";
import { type Dashboard, withDashboard } from "./dashboard.ts";
import { poll } from "../within.ts";

const FACTS = [
  "I am allergic to peanuts",
  "My sister Ada lives in Lisbon",
  "The garage code is on the blue note",
];
const DELETED = "I use the old phone";
const PATIENCE_MS = 60_000;

/** Asks again until the answer is yes. */
async function until(what: string, ask: () => Promise<boolean>): Promise<void> {
  await poll(async () => ({ what, is: await ask() }), ({ is }) => is);
}

/** Signs the package in through the page. */
async function connect(svc: StdioPackage, page: Page, web: string): Promise<string> {
  const login = await svc.host.call("svc_login");
  const [address = ""] = /http:\S+\/connect\/mcp\?\S+/.exec(textOf(login)) ?? [];
  assert.ok(address.startsWith(`${web}/connect/mcp?`), textOf(login));
  await page.goto(address);
  await page.getByRole("heading", { name: /^Connect / }).waitFor();
  const label = new URL(address).searchParams.get("label") ?? "";
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("heading", { name: `${label} is connected` }).waitFor();
  await svc.host.heard("notifications/tools/list_changed");
  return label;
}

async function clientOf(home: string, relayer: string): Promise<SvcClient> {
  const text = await Deno.readTextFile(`${home}/.svc/credentials.json`);
  const { delegatePrivateKey, accountId } = JSON.parse(text);
  return new SvcClient({ baseUrl: relayer, privateKey: delegatePrivateKey, accountId });
}

/** Every memory as an app sees it, oldest first, without what a store may change. */
async function memories(client: SvcClient): Promise<Record<string, unknown>[]> {
  const { memories } = await client.memories({ namespace: "default", order: "oldest" });
  // A key that was removed has no label.
  return memories.map(({ blob_id: _, written_by_label: _label, ...memory }) => ({ ...memory }));
}

browserTest(
  "on a chain: sign in, remember, recall, delete, and restore it all on a fresh machine",
  async (browser) => {
    verifies("2-18", "10.9-15", "15-24", "15-25", "15-26");
    await using network = await startDevnet();
    const settings = { ...network.settings(), SVC_BLOB_BATCH_MS: "200" };
    await inHome(async (home) => {
      let before: Record<string, unknown>[] = [];
      let recoveryKey = "";
      const first = async ({ web, relayer }: Dashboard) => {
        const page = await browser.newPage();
        const wrong = complaints(page);
        await page.goto(web);
        await page.getByRole("button", { name: "Start" }).click();
        await page.getByText("Nothing here yet").waitFor({ timeout: PATIENCE_MS });
        await page.getByRole("link", { name: "Account" }).click();
        await page.getByRole("button", { name: "Show the recovery key" }).click();
        recoveryKey = await page.getByLabel("Recovery key").innerText();

        const start = packageStart(home, "--relayer", relayer, "--web-url", web);
        await using svc = new StdioPackage(start);
        await svc.host.initialize();
        const label = await connect(svc, page, web);
        for (const text of [...FACTS, DELETED]) {
          const saved = await svc.host.call("svc_remember", { text });
          assert.notEqual(saved.isError, true, textOf(saved));
        }
        const found = await svc.host.call("svc_recall", { query: "what must I not eat?" });
        assert.match(textOf(found), /peanuts/);
        await page.getByRole("link", { name: "Memories", exact: true }).click();
        await page.locator(".memory", { hasText: FACTS[0]! }).waitFor();
        await screenshot(page, "chain_memories");

        const client = await clientOf(home, relayer);
        await until("every blob is stored", async () => {
          const listed = (await client.memories({ namespace: "default" })).memories;
          return listed.length === 4 && listed.every(({ blob_id }) => blob_id !== "");
        });
        const old = (await client.memories({ namespace: "default" })).memories
          .find(({ text }) => text === DELETED);
        const gone = await client.deleteMemory(old!.memory_id);
        assert.equal(gone.blob, "retained");
        assert.equal(gone.erased, false);
        // Until its quilt ends: an epoch of the network is a day, and five are paid for.
        const { survives } = JSON.parse(gone.receipt!.statement);
        const kept = survives.find(({ what }: { what: string }) => what === "blob");
        assert.deepEqual(kept.memory_ids, [old!.memory_id]);
        const days = (Date.parse(kept.until) - Date.now()) / 86_400_000;
        assert.ok(days > 0 && days <= 5, kept.until);
        before = await memories(client);
        assert.equal(before.length, 3);
        await until(
          "the tombstone is stored",
          async () => (await client.restore("default", 0)).total === 4,
        );

        // A key that is removed on the chain is refused, and its sessions with it.
        await page.getByRole("link", { name: "Apps", exact: true }).click();
        const card = page.locator(".key", { hasText: label });
        await card.getByRole("button", { name: "Remove" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
        await card.waitFor({ state: "detached" });
        await until(
          "the removed key is refused",
          async () => (await svc.host.call("svc_recall", { query: "peanuts" })).isError === true,
        );
        // The first question is refused: from then on the page sends a session with it.
        assert.deepEqual(wrong.filter((line) => !line.includes("status of 400")), []);
        await page.close();
      };
      await withDashboard(first, settings);

      // Another machine: an empty data directory and another relayer key.
      await withDashboard(async ({ web, relayer }) => {
        const page = await browser.newPage();
        await page.goto(web);
        await page.getByLabel("Recovery key").fill(recoveryKey);
        await page.getByRole("button", { name: "Use this key" }).click();
        await page.getByRole("heading", { name: "Memories" }).waitFor({ timeout: PATIENCE_MS });
        const start = packageStart(home, "--relayer", relayer, "--web-url", web);
        await using svc = new StdioPackage(start);
        await svc.host.initialize();
        await connect(svc, page, web);
        const restored = await svc.host.call("svc_restore", { namespace: "default" });
        // The deleted one is there still, or was left out of a quilt that was written since.
        assert.match(textOf(restored), /total=[45] {2}restored=3/);
        assert.deepEqual(await memories(await clientOf(home, relayer)), before);
        const found = await svc.host.call("svc_recall", { query: "which phone do I use?" });
        assert.doesNotMatch(textOf(found), /old phone/);
        await page.close();
      }, settings);
    });
  },
);
