/**
 * Builds the pages of `docs/` into a static site with a search, in `dist/site`. VitePress and what
 * it brings are locked in `build/site/`, apart from what the program itself needs.
 *
 *     deno task site [base] [repository]
 *
 * @module
 */
import { dirname, join, normalize } from "node:path/posix";
import { ROOT, runDeno } from "./run_deno.ts";

/** Pages outside of `docs/`, and those that a folder shows by itself: their names on the site. */
const NAMES: Readonly<Record<string, string>> = {
  "README.md": "about.md",
  "CHANGELOG.md": "changelog.md",
  "CONTRIBUTING.md": "contributing.md",
  "SECURITY.md": "promises.md",
  "docs/README.md": "index.md",
  "docs/measurements/README.md": "measurements/overview.md",
};

interface Section {
  readonly text: string;
  readonly items: { readonly text: string; readonly link: string }[];
}

/** Every page, by its path in the repository, with its path on the site. */
async function pages(): Promise<Map<string, string>> {
  const found = new Map(Object.entries(NAMES));
  for (const folder of ["docs", "docs/measurements"]) {
    for await (const { name } of Deno.readDir(join(ROOT, folder))) {
      const path = `${folder}/${name}`;
      if (name.endsWith(".md") && !found.has(path)) found.set(path, path.slice("docs/".length));
    }
  }
  return found;
}

/**
 * A page as the site shows it: links to pages lead to pages of the site, links to sources to the
 * repository, where one is known, and are text otherwise.
 *
 * @throws {Error} for a link to nothing, with the page and the link.
 */
async function rewrite(
  path: string,
  known: ReadonlyMap<string, string>,
  repository: string | undefined,
): Promise<string> {
  const text = await Deno.readTextFile(join(ROOT, path));
  const target = async (link: string, label: string): Promise<string> => {
    const [, file = "", anchor = ""] = /^([^#]*)(#.*)?$/.exec(link) ?? [];
    if (file === "" || /^[a-z]+:/.test(file)) return `[${label}](${link})`;
    const source = normalize(join(dirname(path), file)).replace(/\/$/, "");
    const page = known.get(source);
    if (page !== undefined) return `[${label}](/${page}${anchor})`;
    await Deno.stat(join(ROOT, source)).catch(() => {
      throw new Error(`${path}: ${link} leads to nothing`);
    });
    if (source === "docs/openapi.json") return `<a href="openapi.json" target="_self">${label}</a>`;
    return repository === undefined ? label : `[${label}](${repository}/blob/main/${source})`;
  };
  // Code is shown as it is, whatever it looks like.
  const parts = text.split(/(^```[^]*?^```$)/m);
  for (const [index, part] of parts.entries()) {
    if (index % 2 === 1) continue;
    let shown = "";
    let end = 0;
    for (const link of part.matchAll(/(?<!!)\[((?:`[^`]*`|[^\]`])*)\]\(([^)\s]+)\)/g)) {
      shown += part.slice(end, link.index) + await target(link[2]!, link[1]!);
      end = link.index + link[0].length;
    }
    parts[index] = shown + part.slice(end);
  }
  return parts.join("");
}

/** The sections of the list of pages; a line with several links is one entry for each. */
function sidebar(list: string): Section[] {
  return list.split(/^## /m).slice(1).map((section) => ({
    text: section.slice(0, section.indexOf("\n")),
    items: [...section.matchAll(/\[([^\]]+)\]\((\/[^)]+)\.md\)/g)].map((
      [, text = "", link = ""],
    ) => ({
      text: text.charAt(0).toUpperCase() + text.slice(1).replace(/\.md$/, ""),
      link,
    })),
  }));
}

/**
 * Builds the site.
 *
 * @param folder Where to; what is there is removed.
 * @param base Path that the site is served under, with a slash at both ends.
 * @param repository Address of the repository, which links to sources lead to.
 * @throws {Error} for a link between pages that leads to nothing.
 */
export async function buildSite(folder: string, base = "/", repository?: string): Promise<void> {
  const work = await Deno.makeTempDir({ prefix: "svc-site-" });
  try {
    const known = await pages();
    for (const [path, name] of known) {
      const page = `${work}/${name}`;
      await Deno.mkdir(dirname(page), { recursive: true });
      await Deno.writeTextFile(page, await rewrite(path, known, repository));
    }
    await Deno.mkdir(`${work}/.vitepress`);
    await Deno.mkdir(`${work}/public`);
    await Deno.copyFile(join(ROOT, "docs/openapi.json"), `${work}/public/openapi.json`);
    await Deno.copyFile(join(ROOT, "web/icon.svg"), `${work}/public/icon.svg`);
    for (const name of ["package.json", "deno.json", "deno.lock"]) {
      await Deno.copyFile(join(ROOT, "build/site", name), `${work}/${name}`);
    }
    await Deno.copyFile(join(ROOT, "build/site/config.js"), `${work}/.vitepress/config.js`);
    const sections = sidebar(await Deno.readTextFile(`${work}/index.md`));
    await runDeno(
      ["run", "--allow-all", "--quiet", "npm:vitepress@1.6.4", "build", "."],
      { SITE_BASE: base, SITE_SIDEBAR: JSON.stringify(sections) },
      work,
    );
    await Deno.remove(folder, { recursive: true }).catch(() => {});
    await Deno.mkdir(dirname(folder), { recursive: true });
    await move(`${work}/.vitepress/dist`, folder);
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

/** Moves a folder, also to another file system. */
async function move(from: string, to: string): Promise<void> {
  await Deno.mkdir(to);
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await move(`${from}/${name}`, `${to}/${name}`);
    else await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}

if (import.meta.main) {
  const [base, repository] = Deno.args;
  await buildSite(join(ROOT, "dist/site"), base, repository);
}
