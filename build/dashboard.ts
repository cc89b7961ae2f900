/**
 * Builds the dashboard into `web/dist`, which is committed: a start never bundles. The same sources
 * give the same bytes on every machine.
 *
 * @module
 */
import { fileURLToPath } from "node:url";

const FOLDER = new URL("../web/", import.meta.url);
const DIST = new URL("dist/", FOLDER);
const STYLES = [
  "styles/base.css",
  "styles/controls.css",
  "styles/layout.css",
  "styles/pages.css",
  "src/memory/memory.css",
];

const path = (name: string) => fileURLToPath(new URL(name, FOLDER));

async function bundle(entry: string, output: string): Promise<void> {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    // The bundler names modules relative to this folder; nothing of the machine gets in.
    cwd: path("."),
    args: [
      "bundle",
      "--quiet",
      "--config=../deno.json",
      "--lock=../deno.lock",
      "--frozen",
      "--platform=browser",
      "--minify",
      `--output=dist/${output}`,
      entry,
    ],
  }).output();
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
  const built = await Deno.readTextFile(path(`dist/${output}`));
  // The bundler leaves them as they are, and a browser loads nothing then.
  if (/(from|import)\s*\(?["']node:/.test(built)) {
    throw new Error(`${output} imports a module that no browser has`);
  }
}

/** The styles one after the other, without comments and indentation. */
async function styles(): Promise<string> {
  const parts = STYLES.map((name) => Deno.readTextFile(path(name)));
  return (await Promise.all(parts)).join("\n")
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/^\s+/gm, "");
}

await Deno.mkdir(DIST, { recursive: true });
await bundle("src/main.tsx", "app.js");
await bundle("src/chain/main.ts", "chain.js");
await bundle("src/importers/main.ts", "importers.js");
await Deno.writeTextFile(new URL("app.css", DIST), await styles());
for (const name of ["index.html", "icon.svg"]) {
  await Deno.copyFile(path(name), path(`dist/${name}`));
}
