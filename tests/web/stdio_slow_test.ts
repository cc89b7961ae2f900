import assert from "node:assert/strict";
import { textOf } from "../cli/bridge/host_peer.ts";
import { packageStart, StdioPackage } from "../e2e/stdio.ts";
import { inHome } from "../program.ts";
import { verifies } from "../requirements.ts";
import { browserTest, screenshot } from "./chromium.ts";
import { withDashboard } from "./dashboard.ts";

/** The longest a removed key may still work, in milliseconds. */
const REMOVED_MS = 60_000;
const FACT = "I am allergic to peanuts";

browserTest(
  "an AI app signs in through the page, remembers, recalls, and is put out",
  async (browser) => {
    verifies("14.2-3", "14.2-5");
    await withDashboard(async ({ web, relayer }) => {
      await inHome(async (home) => {
        const start = packageStart(home, "--relayer", relayer, "--web-url", web);
        await using svc = new StdioPackage(start);
        await svc.host.initialize();
        const login = await svc.host.call("svc_login");
        const [address = ""] = /http:\S+\/connect\/mcp\?\S+/.exec(textOf(login)) ?? [];
        assert.ok(address.startsWith(`${web}/connect/mcp?`), textOf(login));

        const page = await browser.newPage();
        await page.goto(address);
        await page.getByRole("button", { name: "Start" }).click();
        await page.getByRole("heading", { name: /^Connect / }).waitFor();
        const label = new URL(address).searchParams.get("label") ?? "";
        const suffix = await page.locator(".suffix").innerText();
        assert.ok(textOf(login).includes(suffix), "the app shows the same characters");
        await page.getByRole("button", { name: "Approve" }).click();
        await page.getByRole("heading", { name: `${label} is connected` }).waitFor();
        await svc.host.heard("notifications/tools/list_changed");

        const saved = await svc.host.call("svc_remember", { text: FACT });
        assert.notEqual(saved.isError, true, textOf(saved));
        const found = await svc.host.call("svc_recall", { query: "peanuts" });
        assert.match(textOf(found), new RegExp(FACT));

        await page.getByRole("link", { name: "Memories", exact: true }).click();
        await page.locator(".memory", { hasText: FACT }).waitFor();
        await screenshot(page, "journey_memories");
        await page.getByRole("link", { name: "Apps", exact: true }).click();
        const card = page.locator(".key", { hasText: label });
        await card.getByRole("button", { name: "Remove" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
        await card.waitFor({ state: "detached" });
        const end = Date.now() + REMOVED_MS;
        let refused = false;
        while (!refused && Date.now() < end) {
          refused = (await svc.host.call("svc_recall", { query: "peanuts" })).isError === true;
        }
        assert.ok(refused, "the removed key still works");
        assert.ok(!svc.errors.join("\n").includes(FACT));
      });
    });
  },
);
