import { deepStrictEqual } from "node:assert/strict";
import { reportOf, skippedOf, textsOf } from "./reports.ts";

// After a memory of Claude Code 2.1, whose front matter its documentation does not describe; the
// form with `metadata` was read from the documentation of the crate claude-wrapper 0.14.1.
const FACT = `---
name: real-database
description: "Integration tests: never a mock"
metadata:
  node_type: memory
  type: feedback
---

Integration tests reach a real database.

**Why:** a mock hid a broken migration.

**How to apply:** all tests of \`store/\`.
`;

Deno.test("a memory of Claude Code stays together with its reason", () => {
  const path = "/home/a/.claude/projects/-home-a-shop/memory/real-database.md";
  const report = reportOf(path, FACT);
  deepStrictEqual(report.format, "claude-code");
  deepStrictEqual(report.memories, [{
    text:
      "Integration tests reach a real database.\n\n**Why:** a mock hid a broken migration.\n\n**How to apply:** all tests of `store/`.",
    metadata: {
      project: "-home-a-shop",
      name: "real-database",
      description: "Integration tests: never a mock",
      type: "feedback",
    },
  }]);
  deepStrictEqual(reportOf("somewhere.md", FACT).format, "claude-code");
});

Deno.test("CLAUDE.md becomes a memory for each bullet and paragraph under its headings", () => {
  const report = reportOf(
    "shop/CLAUDE.md",
    `# Shop

Run it:

\`\`\`sh
deno task dev

# not a heading
\`\`\`

## Style
- Two spaces
  - also in Markdown

  and in YAML
- Names in English
lazy line
* Other bullet
1. First

@docs/rules.md

<!-- for people
- not a memory
-->
## Nothing here
### Nor here
Title below
-----------
Text | of a table
--- | ---

***
Tail
`.replaceAll("\n", "\r\n"),
  );
  deepStrictEqual(report.format, "claude-code");
  deepStrictEqual(report.memories.map(({ text, metadata }) => [metadata?.["heading"], text]), [
    ["Shop", "Run it:\n\n```sh\ndeno task dev\n\n# not a heading\n```"],
    ["Shop > Style", "Two spaces\n- also in Markdown\n\nand in YAML"],
    ["Shop > Style", "Names in English\nlazy line"],
    ["Shop > Style", "Other bullet"],
    ["Shop > Style", "First"],
    ["Shop > Title below", "Text | of a table\n--- | ---"],
    ["Shop > Title below", "Tail"],
  ]);
  deepStrictEqual(skippedOf(report), [
    "line 21 index_line",
    "line 23 comment",
    "line 27 no_text",
    "line 26 no_text",
  ]);
});

Deno.test("lines of the index that only point to files are skipped, others are not", () => {
  const report = reportOf(
    ".claude\\projects\\p\\memory\\MEMORY.md",
    "# Memory\n- [Real database](real-database.md) — tests\n- Uses pnpm\n- [Site](https://a.b)\n",
  );
  deepStrictEqual(textsOf(report), ["Uses pnpm", "[Site](https://a.b)"]);
  deepStrictEqual(report.memories[0]?.metadata, { project: "p", heading: "Memory" });
  deepStrictEqual(skippedOf(report), ["line 2 index_line"]);
});

Deno.test("a code block, a comment or a heading that never ends does not swallow the reasons", () => {
  const report = reportOf(
    "CLAUDE.md",
    `a\n<!-- open\n\n#\n\n# ${"h".repeat(300)}\n\n~~~\n# x\n\n- y`,
  );
  deepStrictEqual(textsOf(report), ["a\n<!-- open", `# ${"h".repeat(300)}\n\n~~~\n# x\n\n- y`]);
  deepStrictEqual(skippedOf(report), []);
});
