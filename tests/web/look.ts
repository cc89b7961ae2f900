import axe from "axe-core";
import type { Page } from "playwright-core";
import { screenshot } from "./chromium.ts";

/** The source of axe-core, for the page. */
const AXE: string = axe.source;

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Serious and critical findings on what the page shows now. */
async function findings(page: Page): Promise<string[]> {
  // The page's policy forbids strangers' scripts; the debugger is none.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate("axe.run()") as { violations: Violation[] };
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`)
    );
}

/** A page at its rest: nothing is being loaded. */
async function settled(page: Page): Promise<void> {
  await page.locator("h1").first().waitFor();
  await page.getByText("Loading…").first().waitFor({ state: "hidden" });
}

const LOOKS = [
  { name: "light", colorScheme: "light", viewport: { width: 1280, height: 900 } },
  { name: "dark", colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  { name: "phone", colorScheme: "light", viewport: { width: 320, height: 640 } },
] as const;

/** Leaves a picture of each look of a page, and tells what is wrong with them. */
export async function look(page: Page, what: string): Promise<string[]> {
  const found: string[] = [];
  for (const { name, colorScheme, viewport } of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    await settled(page);
    await screenshot(page, `${what}_${name}`);
    found.push(...(await findings(page)).map((line) => `${what}, ${name}: ${line}`));
    const wide = await page.evaluate(
      "document.documentElement.scrollWidth > document.documentElement.clientWidth",
    );
    if (wide) found.push(`${what}, ${name}: the page is wider than the window`);
  }
  return found;
}
