import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import fc from "fast-check";
import {
  fileNameOf,
  fromMarkdown,
  type MarkdownMemory,
  recognise,
  toMarkdown,
} from "../../src/importers/mod.ts";
import { reportOf } from "./reports.ts";

const MEMORY: MarkdownMemory = {
  memory_id: "0190c8f2-0000-4000-8000-1234567890ab",
  namespace: "work",
  text: "I am allergic to peanuts",
  source: "remember",
  created_at: "2026-01-02T03:04:05.000Z",
  updated_at: "2026-01-02T03:04:05.000Z",
  occurred_at: "2025-12-24T00:00:00.000Z",
  version: 2,
  importance: 0.5,
  metadata: { topic: "health", n: 1, yes: true, none: null },
};

Deno.test("a memory is a file of front matter and its text", () => {
  strictEqual(
    toMarkdown(MEMORY),
    `---
format: svc-memory/1
memory_id: "0190c8f2-0000-4000-8000-1234567890ab"
namespace: "work"
source: "remember"
created_at: "2026-01-02T03:04:05.000Z"
updated_at: "2026-01-02T03:04:05.000Z"
occurred_at: "2025-12-24T00:00:00.000Z"
version: 2
importance: 0.5
metadata: {"topic":"health","n":1,"yes":true,"none":null}
---
I am allergic to peanuts`,
  );
  deepStrictEqual(fromMarkdown(toMarkdown(MEMORY)), MEMORY);
});

const TEXTS = [
  "---",
  "---\na: 1\n---\n",
  "--- \r\nx\r\n",
  "\n\n\n",
  "  ",
  " a \n",
  "a\r\n",
  "a\r",
  "\ufeffa",
  "...\n---",
  "\u0000",
  "\u2028\u0085",
];

Deno.test("every text comes back exactly", () => {
  for (const text of TEXTS) {
    deepStrictEqual(fromMarkdown(toMarkdown({ ...MEMORY, text }))?.text, text);
  }
  const unit = fc.oneof(
    fc.constantFrom(
      "-",
      "---",
      "\n",
      "\r\n",
      "\r",
      " ",
      ":",
      "#",
      '"',
      "\ufeff",
      "\u2028",
      "format: x",
    ),
    fc.string({ unit: "binary", maxLength: 3 }),
  );
  const any = fc.string({ unit, maxLength: 30 });
  const value = fc.oneof(any, fc.integer(), fc.boolean(), fc.constant(null));
  const memory = fc.record({
    memory_id: fc.uuid(),
    namespace: any,
    text: any,
    version: fc.nat(),
    importance: fc.double({ min: 0, max: 1, noNaN: true }),
    created_at: fc.constant("2026-01-02T03:04:05.000Z"),
    expires_at: fc.constant("9999-12-31T23:59:59.999Z"),
    metadata: fc.dictionary(any, value, { noNullPrototype: true }),
    source: any,
  }, { requiredKeys: ["memory_id", "namespace", "text"], noNullPrototype: true });
  fc.assert(fc.property(memory, (given) => {
    // JSON has no negative zero.
    if (Object.is(given.importance, -0)) return;
    const content = toMarkdown(given);
    deepStrictEqual(fromMarkdown(content), given);
    deepStrictEqual(recognise({ path: "x", content }), "svc-markdown");
  }));
});

Deno.test("front matter that got other line ends is read, and the text stays as it is there", () => {
  const content = `\ufeff${toMarkdown({ ...MEMORY, text: "a\nb" }).replaceAll("\n", "\r\n")}`;
  deepStrictEqual(fromMarkdown(content), { ...MEMORY, text: "a\r\nb" });
});

Deno.test("another file is none, and a damaged one says which member is wrong", () => {
  for (const text of ["", "text", "---\na: 1\n---\n", "---\nformat: svc-memory/2\n---\nx"]) {
    strictEqual(fromMarkdown(text), undefined);
  }
  const rows: readonly (readonly [string, string])[] = [
    ["", "memory_id is missing"],
    ["memory_id: x", "namespace is missing"],
    ["memory_id: [x]", "memory_id must be a text"],
    ["created_at: soon", "created_at must be a time"],
    ["importance: 2", "importance must be a number, and an importance from 0 to 1"],
    ["version:", "version must be a number, and an importance from 0 to 1"],
    ["metadata: {a: 1}", "metadata must be a flat JSON object in one line"],
    ['metadata: {"a": []}', "metadata must be a flat JSON object in one line"],
  ];
  for (const [line, message] of rows) {
    throws(() => fromMarkdown(`---\nformat: svc-memory/1\n${line}\n---\nsecret`), {
      code: "invalid_parameter",
      message,
    });
  }
});

Deno.test("a file of this form is one memory, whole", () => {
  const text = "# Title\n\n- a\n- b\n";
  const report = reportOf("a.md", toMarkdown({ ...MEMORY, text }));
  deepStrictEqual(report.memories, [{
    text,
    metadata: MEMORY.metadata,
    occurredAt: "2025-12-24T00:00:00.000Z",
    importance: 0.5,
    namespace: "work",
  }]);
});

Deno.test("names of files are safe on every system, and differ by the id", () => {
  const id = MEMORY.memory_id;
  const rows: readonly (readonly [string, string])[] = [
    ["I am allergic to peanuts", "i-am-allergic-to-peanuts-1234567890ab.md"],
    ["CON", "con-1234567890ab.md"],
    ["../..\\etc/passwd: <a>|?*\u0000\n", "etc-passwd-a-1234567890ab.md"],
    ["...", "memory-1234567890ab.md"],
    ["", "memory-1234567890ab.md"],
    ["\ud800", "memory-1234567890ab.md"],
    ["Ärger über Ölpreise", "ärger-über-ölpreise-1234567890ab.md"],
    ["A\u0308rger", "ärger-1234567890ab.md"],
    ["記憶".repeat(100), `${"記憶".repeat(12)}-1234567890ab.md`],
    ["word ".repeat(500), `${"word-".repeat(9)}1234567890ab.md`],
  ];
  for (const [text, name] of rows) strictEqual(fileNameOf({ memory_id: id, text }), name);
  const texts = fc.string({ unit: "binary", maxLength: 300 });
  fc.assert(fc.property(texts, fc.uuid(), (text, memory_id) => {
    const name = fileNameOf({ memory_id, text });
    ok(new TextEncoder().encode(name).length <= 200);
    ok(/^[\p{L}\p{N}][\p{L}\p{N}\p{M}-]*\.md$/u.test(name), name);
    ok(name.isWellFormed() && name === name.normalize("NFC"));
    ok(name.endsWith(`-${memory_id.slice(-12)}.md`));
  }));
});
