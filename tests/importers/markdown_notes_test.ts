import { deepStrictEqual } from "node:assert/strict";
import { reportOf, skippedOf, textsOf } from "./reports.ts";

Deno.test("notes become a memory for each paragraph and bullet, with headings and front matter", () => {
  const report = reportOf(
    "Garden.md",
    "\ufeff---\ntags:\n  - plants\n  - home\ncreated: 2025-05-01 10:00\nnested: {a: 1}\n---\n" +
      "# Garden\n\nRoses need sun.\n\n+ Water on Mondays\n+\n",
  );
  deepStrictEqual(report.format, "markdown");
  const metadata = { tags: "plants, home", created: "2025-05-01 10:00", nested: "{a: 1}" };
  deepStrictEqual(report.memories, [
    {
      text: "Roses need sun.",
      metadata: { ...metadata, heading: "Garden" },
      occurredAt: "2025-05-01T10:00:00.000Z",
    },
    {
      text: "Water on Mondays",
      metadata: { ...metadata, heading: "Garden" },
      occurredAt: "2025-05-01T10:00:00.000Z",
    },
  ]);
  deepStrictEqual(skippedOf(report), ["line 13 empty"]);
  deepStrictEqual(report.notes, [
    { where: "line 1", kind: "front_matter_text", members: ["nested"] },
  ]);
});

Deno.test("a text file is read alike, and the same words count once under a heading", () => {
  const report = reportOf("notes.txt", "One.\n\nOne.\n\n# A\nOne.\r\rTwo.\nstill two");
  deepStrictEqual(textsOf(report), ["One.", "One.", "Two.\nstill two"]);
  deepStrictEqual(skippedOf(report), ["line 3 duplicate"]);
});

Deno.test("a text that starts with a rule has no front matter", () => {
  deepStrictEqual(textsOf(reportOf("a.md", "---\nsome words\n---\nmore")), ["more"]);
  deepStrictEqual(skippedOf(reportOf("a.md", "---\nsome words\n---\nmore")), []);
});

Deno.test("too many members of front matter are left out and named", () => {
  const members = Array.from({ length: 60 }, (_, n) => `m${n}: ${n}`).join("\n");
  const report = reportOf("a.md", `---\n${members}\n---\ntext`);
  deepStrictEqual(Object.keys(report.memories[0]?.metadata ?? {}).length, 50);
  deepStrictEqual(report.notes[0]?.members?.length, 10);
});
