import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import fc from "fast-check";
import { SvcError } from "../../src/errors.ts";
import {
  FORMAT_NAMES,
  type FormatName,
  readMemories,
  recognise,
  type SourceFile,
} from "../../src/importers/mod.ts";
import { reportOf, sound } from "./reports.ts";

const refusal = (file: SourceFile, format?: FormatName): string => {
  try {
    readMemories([file], format);
  } catch (error) {
    ok(error instanceof SvcError);
    strictEqual(error.code, "invalid_parameter");
    return error.message;
  }
  throw new Error("it was read");
};

Deno.test("each file has its own report, in their order", () => {
  const reports = readMemories([
    { path: "b.txt", content: "One." },
    { path: "a.json", content: '[{"memory":"Two."}]' },
  ]);
  deepStrictEqual(reports.map(({ path, format, taken }) => [path, format, taken]), [
    ["b.txt", "markdown", 1],
    ["a.json", "mem0", 1],
  ]);
});

Deno.test("a file of which nothing can be taken is refused with the reasons", () => {
  const rows: readonly (readonly [path: string, content: string, message: RegExp])[] = [
    ["a.md", "", /^a\.md: markdown was recognised, but it is empty$/],
    ["a.json", '{"memories":[]}', /mem0 was recognised, but it is empty/],
    [
      "a.json",
      '[{"memory":"secret","state":"deleted"},{"memory":""},{"memory":" "}]',
      /nothing can be taken \(1: it was deleted where it comes from; 2: it is empty\)$/,
    ],
    ["a.json", '[{"memory":"secret"', /^a\.json: this is not JSON; the file may be incomplete$/],
    ["a.json", '{"secret":1}', /none of the formats that can be read: mem0, mcp-memory, chatgpt/],
    ["a.ndjson", '{"type":"header","format":"svc-export/1"}', /export of svc, which is imported/],
    ["a.md", "---\nformat: svc-memory/1\nmemory_id: secret\n---\nsecret", /namespace is missing$/],
  ];
  for (const [path, content, message] of rows) {
    const given = refusal({ path, content });
    ok(message.test(given), given);
    ok(!given.includes("secret"));
  }
});

Deno.test("a format that is named has to fit", () => {
  const rows: readonly (readonly [FormatName, string, RegExp])[] = [
    ["mem0", '"secret"', /does not have the form of mem0$/],
    ["mem0", "secret", /not JSON/],
    ["chatgpt", '{"results":[]}', /does not have the form of chatgpt$/],
    ["chatgpt", '[{"chat_messages":[]}]', /nothing can be taken/],
    ["claude", '{"memories":[]}', /does not have the form of claude$/],
    ["claude", '[{"mapping":{}}]', /nothing can be taken/],
    ["mcp-memory", "secret\nsecret", /does not have the form of mcp-memory$/],
    ["svc-markdown", "secret", /does not have the form of svc-markdown$/],
    ["svc", "secret", /export of svc/],
  ];
  for (const [format, content, message] of rows) {
    const given = refusal({ path: "x", content }, format);
    ok(message.test(given), given);
    ok(!given.includes("secret"));
  }
  strictEqual(reportOf("x.pdf", '{"a":1}', "markdown").memories[0]?.text, '{"a":1}');
});

Deno.test("ten thousand entries of every format are read at once", () => {
  const many = <T>(make: (n: number) => T): T[] =>
    Array.from({ length: 10_000 }, (_, n) => make(n));
  const user = (n: number) => ({
    parent: n === 0 ? null : `n${n - 1}`,
    message: { author: { role: "user" }, content: { content_type: "text", parts: [`t${n}`] } },
  });
  const mapping = Object.fromEntries(many((n) => [`n${n}`, user(n)]));
  const line = (n: number) =>
    JSON.stringify({ type: "entity", name: `e${n}`, entityType: "t", observations: ["x"] });
  const front = "---\ntitle: T\ntype: note\npermalink: p\n---\n";
  const files: readonly (readonly [FormatName, string, string])[] = [
    ["mem0", "a.json", JSON.stringify(many((n) => ({ memory: `m${n}`, metadata: { n } })))],
    ["mcp-memory", "a.jsonl", many(line).join("\n")],
    ["chatgpt", "a.json", JSON.stringify([{ current_node: "n9999", mapping }])],
    [
      "claude",
      "a.json",
      JSON.stringify([{ chat_messages: many((n) => ({ sender: "human", text: `t${n}` })) }]),
    ],
    ["claude-code", "CLAUDE.md", many((n) => `## H${n}\n- bullet ${n}`).join("\n")],
    ["basic-memory", "a.md", front + many((n) => `- [fact] number ${n} #tag`).join("\n")],
    ["markdown", "a.txt", many((n) => `paragraph ${n}`).join("\n\n")],
  ];
  for (const [format, path, content] of files) {
    const report = reportOf(path, content);
    deepStrictEqual([report.format, report.taken], [format, 10_000]);
  }
});

Deno.test("texts made to keep a reader busy do not", () => {
  const long = 50_000;
  const texts = [
    "[[".repeat(long),
    "- [[".repeat(long),
    "- [a".repeat(long),
    `# ${" ".repeat(long)}#x`,
    `- ${" \t".repeat(long)}`,
    "- - ".repeat(long),
    `---\na: ${"[".repeat(long)}\n---\nx`,
    `---\na: [${'"'.repeat(long)}]\n---\nx`,
    "<!--".repeat(long),
    "**".repeat(long),
    "```\n".repeat(long),
    `${"\n".repeat(long)}x`,
    `- a\n${"\n".repeat(long)}  b`,
    `x\n${"-".repeat(long)}y`,
    `# ${"h".repeat(long)}\n${"- a\n".repeat(1000)}`,
    "\u2028".repeat(long),
    "[".repeat(long),
    '{"a":'.repeat(long),
    `${"[".repeat(long)}${"]".repeat(long)}`,
  ];
  for (const content of texts) {
    for (const format of [undefined, ...FORMAT_NAMES]) {
      try {
        readMemories([{ path: "a.md", content }], format).forEach(sound);
      } catch (error) {
        ok(error instanceof SvcError, String(error).slice(0, 200));
      }
    }
  }
});

/** Values that look a little like those of the formats. */
const { json } = fc.letrec((tie) => ({
  leaf: fc.oneof(
    fc.string({ unit: "binary", maxLength: 5 }),
    fc.constantFrom(
      "user",
      "human",
      "assistant",
      "all",
      "text",
      "a",
      "\ud800",
      "entity",
      "x: [[y]]",
    ),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
  ),
  json: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    tie("leaf"),
    fc.array(tie("json"), { maxLength: 4 }),
    fc.dictionary(
      fc.constantFrom(
        ...["a", "b", "__proto__", "memories", "results", "memory", "metadata", "created_at"],
        ...["mapping", "current_node", "message", "author", "role", "content", "parts", "parent"],
        ...["chat_messages", "sender", "text", "conversations_memory", "project_memories", "type"],
        ...["name", "observations", "from", "to", "relationType", "relations", "memory_files"],
      ),
      tie("json"),
      { maxKeys: 6 },
    ),
  ),
}));

const unit = fc.constantFrom(
  ...["a", "b", " ", "\n", "\r\n", "\t", "- ", "# ", "## ", "---\n", "```\n", "<!--", "-->", "**"],
  ...[
    "[fact] ",
    "[[x]]",
    "key: value\n",
    "@file",
    "1. ",
    "    ",
    "===",
    "é",
    "😀",
    "\ufeff",
    "\ud800",
  ],
);

function addsUp(file: SourceFile, format: FormatName | undefined): void {
  try {
    readMemories([file], format).forEach(sound);
  } catch (error) {
    ok(error instanceof SvcError, String(error));
  }
}

Deno.test("whatever is in a file, each entry is taken or skipped", () => {
  const formats = fc.constantFrom(undefined, ...FORMAT_NAMES);
  fc.assert(
    fc.property(json, formats, (value, format) => {
      addsUp({ path: "a.json", content: JSON.stringify(value) }, format);
      addsUp({ path: "a.json", content: JSON.stringify([value, value]) }, format);
    }),
    { numRuns: 400 },
  );
  fc.assert(
    fc.property(
      fc.array(json, { maxLength: 4 }),
      fc.string({ unit, maxLength: 8 }),
      (values, rest) => {
        const content = [...values.map((value) => JSON.stringify(value)), rest].join("\n");
        addsUp({ path: "a.jsonl", content }, "mcp-memory");
        recognise({ path: "a.jsonl", content });
      },
    ),
  );
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 40 }), formats, (content, format) => {
      addsUp({ path: "a.md", content }, format);
    }),
    { numRuns: 400 },
  );
});

Deno.test("trees of ChatGPT with any links add up", () => {
  const id = fc.constantFrom("a", "b", "c", "d", "e", "__proto__", "gone");
  const said = fc.record({
    author: fc.record({ role: fc.constantFrom("user", "assistant", "system", "tool", 1) }),
    content: fc.record({ parts: fc.array(fc.constantFrom("x", "", {}, 3), { maxLength: 2 }) }),
    recipient: fc.constantFrom("all", "python"),
  }, { noNullPrototype: true });
  const node = fc.record({ parent: fc.option(id), message: fc.option(said) });
  const mapping = fc.array(fc.tuple(id, fc.oneof(node, fc.constant(5))), { maxLength: 7 })
    .map((nodes) => Object.fromEntries(nodes));
  const conversation = fc.record({ current_node: fc.option(id), mapping });
  fc.assert(fc.property(fc.array(conversation, { maxLength: 3 }), (list) => {
    addsUp({ path: "a.json", content: JSON.stringify(list) }, "chatgpt");
  }));
});

Deno.test("every word of a note is in a memory or in what was skipped", () => {
  const word = fc.stringMatching(/^[a-z]{3,8}$/);
  const start = fc.constantFrom("", "", "- ", "  - ", "# ", "1. ", "    ");
  const lines = fc.array(fc.tuple(start, word, fc.constantFrom("\n", "\n\n", "\n\n\n")), {
    minLength: 1,
  });
  fc.assert(fc.property(lines, (parts) => {
    const content = parts.map(([before, name, after]) => before + name + after).join("");
    const report = sound(readMemories([{ path: "a.md", content: `${content}\n\nlast` }])[0]!);
    const said = JSON.stringify(report.memories);
    const places = new Set(report.skipped.map(({ where }) => where));
    content.split("\n").forEach((line, at) => {
      const name = line.replace(/^[\s\d.#-]+/, "");
      ok(said.includes(name) || places.has(`line ${at + 1}`), `${line} of ${content}`);
    });
  }));
});

Deno.test("a refusal of one file is a refusal of all", () => {
  throws(() => readMemories([{ path: "a.md", content: "x" }, { path: "b.md", content: "" }]), {
    message: "b.md: markdown was recognised, but it is empty",
  });
});
