import { deepStrictEqual } from "node:assert/strict";
import { reportOf, skippedOf } from "./reports.ts";

// After NOTE-FORMAT.md of basicmachines-co/basic-memory, with what its parser takes and refuses
// (src/basic_memory/markdown/plugins.py, commit 32235b7).
const NOTE = `---
title: Coffee Brewing Methods
type: note
tags: [coffee, "brewing"]
permalink: coffee-brewing-methods
created: 2026-01-15
---

# Coffee Brewing Methods

Water matters most. See [[Water]].

## Observations
- [method] Pour over provides more flavor clarity than French press
- [technique] Water temperature at 205°F extracts optimal compounds #brewing #heat
- [preference] Ethiopian beans work well with lighter roasts (personal experience)
- [ ] buy a kettle
- [00:12] spoken words
- []

## Relations
- relates_to [[Coffee Bean Origins]]
- "is better than" [[Tea]] (for me)
- [[Grinder]]
- a sentence with a [[Link]] in it
`;

const COMMON = {
  title: "Coffee Brewing Methods",
  type: "note",
  permalink: "coffee-brewing-methods",
  tags: "coffee, brewing",
};

Deno.test("observations and relations of basic-memory get the name of their note", () => {
  const report = reportOf("notes/coffee.md", NOTE);
  const title = "Coffee Brewing Methods";
  deepStrictEqual(report.format, "basic-memory");
  deepStrictEqual(
    report.memories.map(({ text, metadata = {} }) => {
      const { title: _, type: __, permalink: ___, ...own } = metadata;
      return [text, own];
    }),
    [
      ["Water matters most. See [[Water]].", { tags: COMMON.tags, heading: title }],
      [
        `${title}: Pour over provides more flavor clarity than French press`,
        { tags: COMMON.tags, category: "method" },
      ],
      [
        `${title}: Water temperature at 205°F extracts optimal compounds #brewing #heat`,
        { tags: "coffee, brewing, heat", category: "technique" },
      ],
      [
        `${title}: Ethiopian beans work well with lighter roasts (personal experience)`,
        { tags: COMMON.tags, category: "preference" },
      ],
      ["[ ] buy a kettle", { tags: COMMON.tags, heading: `${title} > Observations` }],
      ["[00:12] spoken words", { tags: COMMON.tags, heading: `${title} > Observations` }],
      ["[]", { tags: COMMON.tags, heading: `${title} > Observations` }],
      [
        `${title} relates to Coffee Bean Origins`,
        { tags: COMMON.tags, relation: "relates_to", to: "Coffee Bean Origins" },
      ],
      [
        `${title} is better than Tea (for me)`,
        { tags: COMMON.tags, relation: "is better than", to: "Tea" },
      ],
      [`${title} links to Grinder`, { tags: COMMON.tags, relation: "links_to", to: "Grinder" }],
      ["a sentence with a [[Link]] in it", { tags: COMMON.tags, heading: `${title} > Relations` }],
    ],
  );
  deepStrictEqual(report.memories[1]?.metadata, { ...COMMON, category: "method" });
  deepStrictEqual(report.memories[0]?.occurredAt, "2026-01-15T00:00:00.000Z");
  deepStrictEqual(skippedOf(report), []);
});

Deno.test("a note without a title has the name of its file", () => {
  const report = reportOf("a/My note.md", "- [fact] It rains\n<!-- x -->\n# End", "basic-memory");
  deepStrictEqual(report.memories, [
    { text: "My note: It rains", metadata: { title: "My note", category: "fact" } },
  ]);
  deepStrictEqual(skippedOf(report), ["line 2 comment", "line 3 no_text"]);
});

Deno.test("a note with observations is recognised without a permalink, another is not", () => {
  const front = "---\ntitle: T\ntype: note\n---\n";
  deepStrictEqual(reportOf("a.md", `${front}- [fact] It rains`).format, "basic-memory");
  deepStrictEqual(reportOf("a.md", `${front}It rains`).format, "markdown");
});

Deno.test("tags beyond measure are left out and named", () => {
  const tags = Array.from({ length: 1000 }, (_, n) => `tag${n}`).join(", ");
  const report = reportOf("a.md", `---\ntags: ${tags}\n---\n- [fact] It rains`, "basic-memory");
  deepStrictEqual(report.memories[0]?.metadata, { title: "a", category: "fact" });
  deepStrictEqual(report.notes, [{ where: "line 1", kind: "metadata_dropped", members: ["tags"] }]);
});
