import assert from "node:assert/strict";

const ROOT = new URL("../", import.meta.url);
/** What is read: everything that people write. */
const FOLDERS = [
  "bench/",
  "build/",
  "cli/",
  "contracts/",
  "devnet/",
  "docs/",
  "eval/",
  "examples/",
  "plugins/",
  "src/",
  "testing/",
  "tests/",
  "web/src/",
];
const TEXT = /\.(?:ts|tsx|md|move|yml)$/;
/** `docs/protocol.md#4.4`, and further sections behind it: `, #6`, ` and #6`, ` to #6`. */
const CITATION = /protocol\.md(#[\w.-]*[\w](?:(?:, | and | to )#[\w.-]*[\w])*)/g;

async function* texts(folder: URL): AsyncGenerator<URL> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* texts(new URL(`${name}/`, folder));
    else if (TEXT.test(name)) yield new URL(name, folder);
  }
}

/** Citations of sections and rules that a text has, without the `#`. */
function citationsOf(text: string): string[] {
  return [...text.matchAll(CITATION)].flatMap(([, list = ""]) => list.split(/, | and | to /))
    .map((citation) => citation.slice(1));
}

Deno.test("citations are found, lists of them too", () => {
  const page = "protocol.md";
  assert.deepEqual(
    citationsOf(`see ${page}#4.4 and #6. Or ${page}#10.1 to #10.4, or [x](${page}#4.3-6).`),
    ["4.4", "6", "10.1", "10.4", "4.3-6"],
  );
});

Deno.test("every citation of the protocol leads to its place", async () => {
  const page = await Deno.readTextFile(new URL("docs/protocol.md", ROOT));
  const anchors = new Set([...page.matchAll(/<a id="([^"]*)">/g)].map(([, id = ""]) => id));
  const broken: string[] = [];
  let found = 0;
  for (const folder of FOLDERS) {
    for await (const file of texts(new URL(folder, ROOT))) {
      if (file.href === import.meta.url) continue;
      const text = await Deno.readTextFile(file);
      const name = file.href.slice(ROOT.href.length);
      // Other spellings would not be checked.
      if (/\bPROTOCOL\b[ a-z]*\d/.test(text)) broken.push(`${name}: write docs/protocol.md#4.3`);
      // Inside of the page and of what it is made from a section is linked without the page's name.
      const inside = /^docs\/protocol(?:\.md|\/)/.test(name)
        ? [...text.matchAll(/\]\(#([^)]*)\)/g)].map(([, id = ""]) => id)
        : [];
      for (const id of [...citationsOf(text), ...inside]) {
        found++;
        if (!anchors.has(id)) broken.push(`${name}: ${id}`);
      }
    }
  }
  assert.deepEqual(broken, []);
  assert.ok(found > 100, `${found} citations`);
});
