import { deepStrictEqual } from "node:assert/strict";
import { reportOf, skippedOf, textsOf } from "./reports.ts";

// Written by `KnowledgeGraphManager` of @modelcontextprotocol/server-memory 2026.8.31: entities
// first, then relations, no line feed at the end.
const WRITTEN = [
  '{"type":"entity","name":"John_Smith","entityType":"person","observations":["Speaks fluent Spanish","Graduated in 2019","Prefers morning meetings"]}',
  '{"type":"entity","name":"Anthropic","entityType":"organization","observations":[]}',
  '{"type":"relation","from":"John_Smith","to":"Anthropic","relationType":"works_at"}',
];

Deno.test("observations get their entity's name, and relations are sentences", () => {
  for (const end of ["\n", "\r\n"]) {
    const report = reportOf("memory.jsonl", WRITTEN.join(end));
    deepStrictEqual(report.format, "mcp-memory");
    deepStrictEqual(textsOf(report), [
      "John_Smith (person): Speaks fluent Spanish",
      "John_Smith (person): Graduated in 2019",
      "John_Smith (person): Prefers morning meetings",
      "John_Smith works at Anthropic",
    ]);
    deepStrictEqual(report.memories[0]?.metadata, { entity: "John_Smith", entity_type: "person" });
    deepStrictEqual(report.memories[3]?.metadata, {
      from: "John_Smith",
      relation: "works_at",
      to: "Anthropic",
    });
    deepStrictEqual(skippedOf(report), ["line 2 no_text"]);
    deepStrictEqual(report.entries, 5);
  }
});

Deno.test("broken lines of a graph are reported and the rest is read", () => {
  const report = reportOf(
    "memory.json",
    "\ufeff" + [
      '{"type":"entity","name":"cut of',
      "",
      WRITTEN[2],
      WRITTEN[2],
      '{"type":"entity","name":7,"observations":["x"]}',
      '{"type":"entity","name":"A","observations":[1,"",{},"fine","\\ud800"]}',
      '{"type":"relation","from":"A"}',
      '{"type":"other"}',
      "[]",
      `{"type":"entity","name":"${"n".repeat(2000)}","observations":["x"]}`,
    ].join("\n"),
  );
  deepStrictEqual(report.format, "mcp-memory");
  deepStrictEqual(textsOf(report), ["John_Smith works at Anthropic", "A: fine"]);
  deepStrictEqual(skippedOf(report), [
    "line 1 not_json",
    "line 4 duplicate",
    "line 5 unknown_shape",
    "line 6.observations[0] not_text",
    "line 6.observations[1] empty",
    "line 6.observations[2] not_text",
    "line 6.observations[4] not_unicode",
    "line 7 unknown_shape",
    "line 8 unknown_shape",
    "line 9 unknown_shape",
    "line 10 unknown_shape",
  ]);
});
