import { type Browser, chromium, type Page } from "playwright-core";

const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** Path of a Chromium on this machine. */
export const CHROMIUM: string | undefined = PATHS.find(isFile);

/** Where screenshots of a run are left; not part of the repository. */
const SCREENSHOTS = new URL("../../artifacts/screenshots/", import.meta.url);

/** The browser of a file's tests; each has pages of its own. */
let browser: Browser | undefined;

async function launched(): Promise<Browser> {
  return await chromium.launch({
    timeout: 60_000,
    executablePath: CHROMIUM!,
    // Chromium's own sandbox does not work for root in a container.
    args: Deno.uid() === 0 ? ["--no-sandbox"] : [],
  });
}

if (CHROMIUM !== undefined) {
  Deno.test.beforeAll(async () => void (browser = await launched()));
  Deno.test.afterAll(() => browser?.close());
}

/** A test that drives a browser; where there is none it is ignored, and its name says why. */
export function browserTest(name: string, test: (browser: Browser) => Promise<void>): void {
  Deno.test({
    name: CHROMIUM === undefined ? `${name} (needs Chromium: apt-get install chromium)` : name,
    ignore: CHROMIUM === undefined,
    fn: async () => {
      try {
        await test(browser!);
      } finally {
        for (const context of browser!.contexts()) await context.close();
      }
    },
  });
}

/** What a page complained about: errors of scripts, and what its policy forbade. */
export function complaints(page: Page): string[] {
  const found: string[] = [];
  page.on("pageerror", (error) => found.push(`${error}`));
  page.on("console", (message) => {
    if (message.type() === "error") found.push(message.text());
  });
  return found;
}

/** Leaves a picture of a page among the artefacts of the run. */
export async function screenshot(page: Page, name: string): Promise<void> {
  await Deno.mkdir(SCREENSHOTS, { recursive: true });
  const bytes = await page.screenshot({ fullPage: true });
  await Deno.writeFile(new URL(`${name}.png`, SCREENSHOTS), bytes);
}
