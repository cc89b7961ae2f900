import { strictEqual } from "node:assert/strict";
import { PAGES } from "../docs/generate.ts";

const ROOT = new URL("../", import.meta.url);

Deno.test("generated pages are up to date", async () => {
  for (const { path, render } of PAGES) {
    const page = await Deno.readTextFile(new URL(path, ROOT));
    strictEqual(page, await render(), `${path}: run "deno task docs"`);
  }
});
