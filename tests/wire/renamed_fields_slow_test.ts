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

/** Who reads each of the fields, as beginnings of paths. */
const READERS: Readonly<Record<string, readonly string[]>> = {
  label: ["cli/", "web/src/"],
  next_cursor: ["src/client/", "cli/", "web/src/"],
  pending: ["web/src/"],
  recallable: ["src/client/", "src/mcp/tools/", "cli/", "web/src/"],
  request_id: ["src/client/"],
  status: ["src/client/", "cli/"],
  text: ["src/mcp/tools/", "src/wire/table/tools.ts", "cli/", "web/src/"],
};

/** Type errors, each with what it says and the place it names first. */
async function typeErrors(importMap: string, ...args: string[]): Promise<string[]> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["check", `--import-map=${importMap}`, ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  assert.equal(success, false);
  return new TextDecoder().decode(stderr).split(/^(?=TS\d+ )/m);
}

/** Whether an error names the field, and is in a file whose path begins so. */
function isAbout(error: string, field: string, beginning: string): boolean {
  const [, url = ""] = /^ +at (file:.+):\d+:\d+$/m.exec(error) ?? [];
  return new RegExp(`['"]${field}['"]`).test(error) && url.startsWith(`${ROOT}${beginning}`);
}

Deno.test("a field renamed in the table alone fails the type check of all who read it", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const map = await renamedTable(folder);
    const program = ["src/client/mod.ts", "src/mcp/mod.ts", "cli/mod.ts"];
    const errors = await Promise.all([
      typeErrors(map, "--lock=deno.lock", "--frozen", ...program),
      typeErrors(map, "--config=web/browser.json", "web/src/main.tsx"),
    ]);
    for (const [field, readers] of Object.entries(READERS)) {
      for (const beginning of readers) {
        const isFound = errors.flat().some((error) => isAbout(error, field, beginning));
        assert.ok(isFound, `${field} is read in ${beginning}`);
      }
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
