import { deepStrictEqual, ok } from "node:assert/strict";
import { VARIABLES } from "../cli/environment.ts";
import { HELP } from "../src/program/commands/help.ts";
import { INSPECTOR } from "./mcp_inspector.ts";

const ROOT = new URL("../", import.meta.url);

async function pages(): Promise<string[]> {
  const found: string[] = [];
  for (const folder of ["", "docs/", "docs/measurements/"]) {
    for await (const { name } of Deno.readDir(new URL(folder, ROOT))) {
      if (name.endsWith(".md")) found.push(folder + name);
    }
  }
  return found;
}

async function exists(url: URL): Promise<boolean> {
  return await Deno.stat(url).then(() => true, () => false);
}

/** Where links into a page may lead: anchors of its own, and its headings. */
function anchorsOf(text: string): Set<string> {
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading.toLowerCase().replace(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-")
  );
  return new Set([
    ...headings,
    ...[...text.matchAll(/<a id="([^"]*)">/g)].map(([, id = ""]) => id),
  ]);
}

Deno.test("links between pages lead somewhere", async () => {
  const broken: string[] = [];
  for (const page of await pages()) {
    const text = await Deno.readTextFile(new URL(page, ROOT));
    for (const [, target = "", anchor] of text.matchAll(/\]\(([^)#\s]*)(?:#([^)]*))?\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const url = target === "" ? new URL(page, ROOT) : new URL(target, new URL(page, ROOT));
      const ok = await exists(url) &&
        (anchor === undefined || anchorsOf(await Deno.readTextFile(url)).has(anchor));
      if (!ok) broken.push(`${page}: ${target}${anchor === undefined ? "" : `#${anchor}`}`);
    }
  }
  deepStrictEqual(broken, []);
});

Deno.test("every page can be reached from the README", async () => {
  const all = new Set(await pages());
  const reached = new Set(["README.md"]);
  for (const page of reached) {
    if (!page.endsWith(".md") || !all.has(page)) continue;
    const text = await Deno.readTextFile(new URL(page, ROOT));
    for (const [, target = ""] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
      const { href } = new URL(target, new URL(page, ROOT));
      if (href.startsWith(ROOT.href)) reached.add(href.slice(ROOT.href.length));
    }
  }
  deepStrictEqual([...all].filter((page) => !reached.has(page)), []);
});

Deno.test("the first two commands of the README start the relayer and run the tests", async () => {
  const text = await Deno.readTextFile(new URL("README.md", ROOT));
  const commands = [...text.matchAll(/^npx -y deno@2\.9\.6 task (\w+)/gm)].map(([, task]) => task);
  deepStrictEqual(commands.slice(0, 2), ["start", "test"]);
});

Deno.test("what the pages show of embedding is the example that is run", async () => {
  const program = await Deno.readTextFile(new URL("examples/embed/main.ts", ROOT));
  const shown = program.replace(/^.*deno-lint-ignore.*\n/m, "");
  for (const page of ["README.md", "docs/embed.md", "src/relayer.ts"]) {
    const text = await Deno.readTextFile(new URL(page, ROOT));
    ok(text.replaceAll(/^ \* ?/gm, "").includes(`ignore\n${shown}\`\`\``), page);
  }
});

Deno.test("every file that a page names is there", async () => {
  const missing: string[] = [];
  for (const page of await pages()) {
    if (page === "CHANGELOG.md") continue; // Of the time of its entry.
    const text = await Deno.readTextFile(new URL(page, ROOT));
    for (const [, path = ""] of text.matchAll(/`((?:src|plugins|cli|tests|build)\/[\w./-]*)`/g)) {
      if (!await exists(new URL(path, ROOT))) missing.push(`${page}: ${path}`);
    }
  }
  deepStrictEqual(missing, []);
});

Deno.test("every task, setting and route that a page names exists", async () => {
  const config = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT))) as {
    tasks: Record<string, unknown>;
  };
  const settings = await Deno.readTextFile(new URL("docs/configuration.md", ROOT));
  const unknown: string[] = [];
  for (const page of await pages()) {
    const text = await Deno.readTextFile(new URL(page, ROOT));
    for (const [, task = ""] of text.matchAll(/deno(?:@[\d.]+)? task (?:-q )?([a-z]+)/g)) {
      if (!(task in config.tasks)) unknown.push(`${page}: task ${task}`);
    }
    for (const [name] of text.matchAll(/\bSVC_[A-Z_]+[A-Z]\b/g)) {
      const known = settings.includes(name) || OTHER_VARIABLES.has(name);
      if (!known) unknown.push(`${page}: ${name}`);
    }
  }
  deepStrictEqual(unknown, []);
  ok(settings.includes("SVC_DATA_DIR"));
});

Deno.test("the commands that pages show for PowerShell are there", async () => {
  const shown: string[] = [];
  const unknown: string[] = [];
  for (const page of await pages()) {
    const text = await Deno.readTextFile(new URL(page, ROOT));
    for (const [, block = ""] of text.matchAll(/^```powershell\n([^]*?)```/gm)) {
      for (const [, command = ""] of block.matchAll(/^svc ([a-z-]+)/gm)) {
        shown.push(command);
        if (!HELP.includes(`\n  ${command} `)) unknown.push(`${page}: svc ${command}`);
      }
    }
  }
  deepStrictEqual(unknown, []);
  ok(shown.length > 0);
});

Deno.test("what the security page says to run can be run", async () => {
  const text = await Deno.readTextFile(new URL("SECURITY.md", ROOT));
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const files = [...text.matchAll(/\btests\/[\w./]*\w/g)].map(([path]) => path);
  ok(files.length > 20);
  const missing: string[] = [];
  for (const path of files) {
    if (!await exists(new URL(path, ROOT))) missing.push(path);
  }
  for (const [, task = ""] of text.matchAll(/\btask ([a-z:]+)/g)) {
    if (!Object.hasOwn(tasks, task)) missing.push(`task ${task}`);
  }
  for (const [, command = ""] of text.matchAll(/(?:`|task )svc (--[a-z-]+|[a-z]+)/g)) {
    if (!HELP.includes(`\n  ${command} `)) missing.push(`svc ${command}`);
  }
  const promises = text.split("## What we promise")[1]?.split("\n## ")[0]?.split("\n- ").slice(1);
  deepStrictEqual(promises?.filter((promise) => !promise.includes("Check:")), []);
  deepStrictEqual(missing, []);
});

Deno.test("the Inspector to try by hand is the one that is tested", async () => {
  const text = await Deno.readTextFile(new URL("docs/mcp.md", ROOT));
  const named = [...text.matchAll(/@modelcontextprotocol\/inspector\S*/g)].map(([name]) => name);
  deepStrictEqual(named, [INSPECTOR]);
});

/** Variables of the stdio package and of tests, which the relayer does not read. */
const OTHER_VARIABLES = new Set([
  ...VARIABLES,
  "SVC_LIVE_OLLAMA_URL",
  "SVC_LIVE_OPENAI_API_KEY",
  "SVC_MINE_URL",
]);

Deno.test("the changelog has a place for changes that are not released", async () => {
  const { version } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const text = await Deno.readTextFile(new URL("CHANGELOG.md", ROOT));
  const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  deepStrictEqual(headings.slice(0, 2), ["Unreleased", version]);
});
