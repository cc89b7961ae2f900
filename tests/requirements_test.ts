import assert from "node:assert/strict";
import { RULES, verifies } from "./requirements.ts";

const root = new URL("./", import.meta.url);

async function* testFiles(folder: URL): AsyncGenerator<URL> {
  for await (const entry of Deno.readDir(folder)) {
    if (entry.isDirectory) yield* testFiles(new URL(`${entry.name}/`, folder));
    else if (entry.name.endsWith("_test.ts")) yield new URL(entry.name, folder);
  }
}

/** Ids in `verifies(…)` calls, by file. */
async function citations(): Promise<Map<string, Set<string>>> {
  const cited = new Map<string, Set<string>>();
  for await (const file of testFiles(root)) {
    // This file cites ids to show how they are judged.
    if (file.href === import.meta.url) continue;
    const source = await Deno.readTextFile(file);
    for (const [, list = ""] of source.matchAll(/\bverifies\(([^)]*)\)/g)) {
      for (const [, id = ""] of list.matchAll(/"([^"]*)"/g)) {
        const files = cited.get(id) ?? new Set();
        cited.set(id, files.add(file.href.slice(root.href.length)));
      }
    }
  }
  return cited;
}

Deno.test("rules have an id of their own, in their section, and a text", async () => {
  const page = await Deno.readTextFile(new URL("../docs/protocol.md", root));
  const seen = new Set<string>();
  for (const { id, text, open } of RULES) {
    assert.ok(!seen.has(id), `${id} twice`);
    seen.add(id);
    assert.ok(text.length > 10, id);
    assert.ok(open === undefined || open.length > 10, id);
    // The last numbered heading before a rule is that of its section.
    const before = page.slice(0, page.indexOf(`<a id="${id}">`));
    const [heading] = [...before.matchAll(/^#+ (\d+(?:\.\d+)?) /gm)].slice(-1);
    assert.equal(heading?.[1], id.split("-")[0], id);
  }
  assert.deepEqual([...page.matchAll(/\*\*(\d+(?:\.\d+)?-\d+)\*\*/g)].map(([, id]) => id), [
    ...seen,
  ]);
});

Deno.test("every section of the protocol has rules", () => {
  const chapters = new Set(RULES.map(({ id }) => Number.parseInt(id)));
  assert.deepEqual([...chapters], Array.from({ length: 18 }, (_, index) => index + 1));
});

Deno.test("citing a rule that does not exist throws", () => {
  verifies("4.3-1", "4.4-1");
  assert.throws(() => verifies("4.3-99"), /4\.3-99/);
});

Deno.test("every rule is tested or says why not, never both, and no other is cited", async () => {
  const cited = await citations();
  const known = new Map(RULES.map((rule) => [rule.id, rule]));
  const problems: string[] = [];
  for (const [id, files] of cited) {
    const rule = known.get(id);
    if (rule === undefined) problems.push(`${id} is unknown (${[...files].join(", ")})`);
    else if (rule.open !== undefined) {
      problems.push(`${id} says why no test shows it, but is cited (${[...files].join(", ")})`);
    }
  }
  for (const { id, text, open } of RULES) {
    if (open === undefined && !cited.has(id)) problems.push(`${id} is not tested: ${text}`);
  }
  assert.deepEqual(problems, []);
});
