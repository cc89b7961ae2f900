import { deepStrictEqual, match, ok } from "node:assert/strict";
import { join, normalize } from "node:path/posix";
import { buildSite } from "../build/site.ts";
import { filesBelow } from "../build/tarball.ts";
import { browserTest, complaints } from "./web/chromium.ts";

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript",
  css: "text/css",
  json: "application/json",
};

/** Builds the site once for a test, with links to the sources of a made-up repository. */
async function withSite(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await buildSite(`${folder}/site`, "/", "https://code.example/svc");
    await test(`${folder}/site`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Links of a page to places of the site: path and anchor, as they are written. */
function linksOf(page: string): [path: string, anchor: string][] {
  const links = [...page.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)];
  return links
    .map(([, href = ""]) => href.replaceAll("&amp;", "&"))
    .filter((href) => !/^[a-z]+:/.test(href))
    .map((href) => {
      const [path = "", anchor = ""] = href.split("#", 2);
      return [path, decodeURIComponent(anchor)];
    });
}

Deno.test("the site holds every page, and no link of it is dead", async () => {
  await withSite(async (folder) => {
    const files = new Set(await filesBelow(folder));
    const pages = new Map<string, string>();
    for (const name of files) {
      if (name.endsWith(".html")) pages.set(name, await Deno.readTextFile(join(folder, name)));
    }
    const dead: string[] = [];
    for (const [name, page] of pages) {
      for (const [path, anchor] of linksOf(page)) {
        const named = path === ""
          ? name
          : normalize(join("/", path.startsWith("/") ? "" : join(name, ".."), path)).slice(1);
        const target = [named, `${named}.html`, `${named}index.html`].find((file) =>
          files.has(file)
        );
        const there = target !== undefined &&
          (anchor === "" || pages.get(target)?.includes(` id="${anchor}"`) === true);
        if (!there) dead.push(`${name}: ${path}#${anchor}`);
      }
    }
    deepStrictEqual(dead, []);
    for await (const { name } of Deno.readDir(new URL("../docs/", import.meta.url))) {
      if (!name.endsWith(".md") || name === "README.md") continue;
      ok(pages.has(name.replace(/md$/, "html")), `${name} is not on the site`);
    }
    const start = pages.get("index.html")!;
    match(start, /href="\/first-day\.html"/);
    match(pages.get("contract.html")!, /https:\/\/code\.example\/svc\/blob\/main\/contracts\/svc"/);
    const texts = await Promise.all(
      [...files].filter((file) => /\.(?:html|js|json)$/.test(file))
        .map((file) => Deno.readTextFile(join(folder, file))),
    );
    ok(!texts.some((text) => text.includes(folder)), "the site names the machine it was built on");
  });
});

browserTest("a word is found by the search of the site", async (browser) => {
  await withSite(async (folder) => {
    const server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      async (request) => {
        const path = new URL(request.url).pathname;
        const name = path.endsWith("/") ? `${path}index.html` : path;
        const bytes = await Deno.readFile(join(folder, name)).catch(() => undefined);
        const type = TYPES[name.split(".").at(-1)!] ?? "application/octet-stream";
        return bytes === undefined
          ? new Response("not here", { status: 404 })
          : new Response(bytes, { headers: { "content-type": type } });
      },
    );
    try {
      const page = await browser.newPage();
      const heard = complaints(page);
      const elsewhere: string[] = [];
      page.on("request", (request) => {
        if (new URL(request.url()).hostname !== "127.0.0.1") elsewhere.push(request.url());
      });
      await page.goto(`http://127.0.0.1:${server.addr.port}/`);
      await page.getByRole("heading", { name: "Documentation" }).waitFor();
      await page.getByRole("button", { name: /search/i }).first().click();
      await page.getByPlaceholder("Search").fill("grafana");
      await page.locator("#localsearch-list a[href*='observability']").first().click();
      await page.waitForURL(/\/observability\.html/);
      // The address changes before the page does.
      await page.locator("main").getByText(/Grafana/).first().waitFor();
      deepStrictEqual(heard, []);
      deepStrictEqual(elsewhere, []);
    } finally {
      await server.shutdown();
    }
  });
});
