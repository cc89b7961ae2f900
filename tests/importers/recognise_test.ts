import { strictEqual } from "node:assert/strict";
import { type FormatName, recognise, toMarkdown } from "../../src/importers/mod.ts";

const HEADER =
  '{"type":"header","format":"svc-export/1","owner":"0x1","exported_at":"2026-01-01T00:00:00Z"}';
const LINE = '{"type":"memory","memory_id":"a","namespace":"default","text":"secret","version":1}';

const ROWS: readonly (readonly [path: string, content: string, format: FormatName | undefined])[] =
  [
    ["a.ndjson", `${HEADER}\n${LINE}\n{"type":"end","memories":1,"errors":0}`, "svc"],
    ["anything", `\ufeff${HEADER}`, "svc"],
    ["a.ndjson", `{"type":"error"}\n{broken\n${LINE}`, "svc"],
    ["a.jsonl", '{"text":"secret"}\n{"text":"more"}', "svc"],
    ["a.jsonl", '{"text":"secret"}', "svc"],
    ["a.json", '{"type":"relation","from":"a","to":"b","relationType":"c"}', "mcp-memory"],
    ["a.json", '[null, {"memory":"x"}]', "mem0"],
    ["a.json", '{"memories":[]}', "mem0"],
    ["a.json", '{"conversations":[{"chat_messages":[]}]}', "claude"],
    ["a.json", '{"mapping":{}}', "chatgpt"],
    ["a.json", "[]", undefined],
    ["a.json", "{}", undefined],
    ["a.json", '[{"type":"entity","name":"x"}]', undefined],
    ["a.json", '[{"a":1}', undefined],
    ["a.md", "[link](x)", "markdown"],
    ["A.TXT", "", "markdown"],
    ["x/CLAUDE.md", "text", "claude-code"],
    ["CLAUDE.local.md", "text", "claude-code"],
    ["MYCLAUDE.md", "text", "markdown"],
    ["a.md", toMarkdown({ memory_id: "a", namespace: "n", text: "" }), "svc-markdown"],
    ["a.pdf", "%PDF", undefined],
    ["", "", undefined],
  ];

Deno.test("formats are recognised by what is in a file, then by its name", () => {
  for (const [path, content, format] of ROWS) {
    strictEqual(recognise({ path, content }), format, `${path} ${content.slice(0, 30)}`);
  }
});
