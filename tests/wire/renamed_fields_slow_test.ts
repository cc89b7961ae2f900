import assert from "node:assert/strict";

const ROOT = new URL("../../", import.meta.url);

/** Answer fields that are renamed, by the file of `src/wire` that the table's types are in. */
const RENAMED: Readonly<Record<string, readonly string[]>> = {
  "route_types.ts": ["request_id"],
  "route_types/account.ts": ["label"],
  "route_types/memories.ts": ["next_cursor", "pending"],
  "route_types/public.ts": ["status"],
  "route_types/recall.ts": ["text"],
  "route_types/remember.ts": ["recallable"],
};

/** Writes the types with fields renamed; answers an import map that puts them in place. */
async function renamedTypes(folder: string): Promise<string> {
  const map = JSON.parse(await Deno.readTextFile(new URL("import_map.json", ROOT)));
  for (const [name, fields] of Object.entries(RENAMED)) {
    const url = new URL(`src/wire/${name}`, ROOT);
    let source = await Deno.readTextFile(url);
    for (const field of fields) {
      assert.match(source, new RegExp(`readonly ${field}\\??:`), `${name} has ${field}`);
      source = source.replaceAll(new RegExp(`readonly ${field}(?=\\??:)`, "g"), `$&_renamed`);
    }
    const copy = `${folder}/${name.replace("/", "_")}`;
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
  text: ["src/mcp/tools/", "src/mcp/tools/shown.ts", "cli/", "web/src/"],
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

Deno.test("a renamed field of an answer fails the type check of all who read it", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const map = await renamedTypes(folder);
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
