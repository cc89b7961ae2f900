import assert from "node:assert/strict";

const ROOT = new URL("../../", import.meta.url);

/** Answer fields that are renamed, each by the beginning of its line in a file of the table. */
const RENAMED: Readonly<Record<string, readonly string[]>> = {
  "../answer_members": ["    request_id: text"],
  memories: ["  label: text", "  next_cursor: text", "        pending: count"],
  public: ["    status: z.enum"],
  recall: ["    text: text"],
  remember: ["  recallable: flag"],
};

/** Writes the table with its fields renamed; answers an import map that puts it in place. */
async function renamedTable(folder: string): Promise<string> {
  const map = JSON.parse(await Deno.readTextFile(new URL("import_map.json", ROOT)));
  for (const [name, lines] of Object.entries(RENAMED)) {
    const url = new URL(`src/wire/table/${name}.ts`, ROOT);
    let source = await Deno.readTextFile(url);
    for (const line of lines) {
      assert.equal(source.split(`\n${line}`).length, 2, `${name}.ts has ${line}`);
      source = source.replace(`\n${line}`, `\n${line.replace(":", "_renamed:")}`);
    }
    const copy = `${folder}/${name.replace("../", "")}.ts`;
    source = source.replaceAll(/from "(\..+)"/g, (_, path) => `from "${new URL(path, url)}"`);
    await Deno.writeTextFile(copy, source);
    map.imports[url.href] = `file://${copy}`;
  }
  const path = `${folder}/import_map.json`;
  await Deno.writeTextFile(path, JSON.stringify(map));
  return path;
}

/** Files with type errors. */
async function wrongFiles(importMap: string, ...args: string[]): Promise<Set<string>> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["check", `--import-map=${importMap}`, ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  assert.equal(success, false);
  const said = new TextDecoder().decode(stderr);
  return new Set(said.matchAll(/at (file:.+?):\d+:\d+$/gm).map(([, url = ""]) => url));
}

Deno.test("a field renamed in the table alone fails the type check of all who read it", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const importMap = await renamedTable(folder);
    const [program, dashboard] = await Promise.all([
      wrongFiles(
        importMap,
        "--lock=deno.lock",
        "--frozen",
        "src/client",
        "src/mcp/tools",
        "cli/commands.ts",
        "cli/remember.ts",
        "cli/status.ts",
      ),
      wrongFiles(importMap, "--config=web/browser.json", "web/src/main.tsx"),
    ]);
    const wrong = program.union(dashboard);
    const readers = [
      "src/client/client.ts",
      "src/client/failures.ts",
      "src/client/transport.ts",
      "src/client/waiting.ts",
      "src/mcp/tools/analyze.ts",
      "src/mcp/tools/recall.ts",
      "src/mcp/tools/remember.ts",
      "src/wire/table/tools.ts",
      "cli/commands.ts",
      "cli/remember.ts",
      "cli/status.ts",
      "web/src/apps/key_card.tsx",
      "web/src/memory/job_progress.tsx",
      "web/src/memory/memory_card.tsx",
      "web/src/memory/memory_list.tsx",
    ].filter((path) => !wrong.has(new URL(path, ROOT).href));
    assert.deepEqual(readers, []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
