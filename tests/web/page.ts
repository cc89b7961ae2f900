import { Buffer } from "node:buffer";
import type { Locator, Page } from "playwright-core";
import { SvcClient } from "../../src/client/mod.ts";

/** The card of a memory with this text. */
export const card = (page: Page, text: string): Locator =>
  page.locator("main li.memory", { hasText: text }).filter({ has: page.locator("time") });

/** Types a memory into the page, and waits until it is listed. */
export async function remember(page: Page, text: string): Promise<void> {
  await page.getByLabel("Remember something").fill(text);
  await page.getByRole("button", { name: "Remember" }).click();
  await card(page, text).getByRole("button", { name: "Edit" }).waitFor();
}

/** A client with a key of its own, made in the page. */
export async function makeApp(page: Page, relayer: string): Promise<SvcClient> {
  await page.getByRole("link", { name: "Apps" }).click();
  await page.getByLabel("Name of the app").fill("Cursor");
  await page.getByRole("button", { name: "Make a key" }).click();
  const privateKey = await page.getByLabel("Key of Cursor").innerText();
  await page.getByRole("link", { name: "Memories" }).click();
  return new SvcClient({ baseUrl: relayer, privateKey });
}

/** Opens what is done rarely. */
export async function openUpkeep(page: Page): Promise<void> {
  const summary = page.getByText("Import, export, repair, forget");
  if (!await page.getByLabel("File").isVisible()) await summary.click();
}

/** Chooses files in the open page. */
export async function chooseFile(page: Page, name: string, content: string): Promise<void> {
  await openUpkeep(page);
  await page.getByLabel("File").setInputFiles({
    name,
    mimeType: "text/plain",
    buffer: Buffer.from(content),
  });
}

/** The bar of deletions; the pointer leaves it, so that the time goes on. */
export async function deletions(page: Page): Promise<Locator> {
  await page.mouse.move(0, 0);
  return page.getByRole("region", { name: "Deleted just now" });
}
