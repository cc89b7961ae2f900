import assert from "node:assert/strict";
import { readImport, textOf } from "../../web/src/memory/import_lines.ts";

Deno.test("a text has a memory on each line", () => {
  const { items, skipped } = readImport("I like tea\r\n\n  My sister is Ada  \n");
  assert.deepEqual(items, [{ text: "I like tea" }, { text: "My sister is Ada" }]);
  assert.equal(skipped, 0);
});

Deno.test("an export keeps what belongs to a memory; lines without text are counted", () => {
  const lines = [
    { type: "header", format: "svc-export/1" },
    { type: "memory", text: "a", importance: 0.9, occurred_at: "2026-01-01T00:00:00Z", extra: 1 },
    { type: "memory", text: "b", metadata: { from: "work", page: 3, kept: true, none: null } },
    { type: "memory", text: "c", metadata: { nested: {} } },
    { type: "memory", text: "d", metadata: ["list"] },
    { type: "memory", text: " " },
    { type: "memory", memory_id: "x" },
    { type: "error", code: "internal_error" },
    { type: "end", memories: 3 },
  ];
  const { items, skipped } = readImport(lines.map((line) => JSON.stringify(line)).join("\n"));
  assert.deepEqual(items, [
    { text: "a", importance: 0.9, occurred_at: "2026-01-01T00:00:00Z" },
    { text: "b", metadata: { from: "work", page: 3, kept: true, none: null } },
    { text: "c" },
    { text: "d" },
  ]);
  assert.equal(skipped, 2);
});

Deno.test("a text that only looks like JSON in parts stays a text", () => {
  assert.equal(readImport('{"text":"a"}\nplain').items.length, 2);
  assert.deepEqual(readImport("").items, []);
});

Deno.test("a file that is NDJSON by its name stays so when a line is broken", () => {
  const { items, skipped } = readImport('{"text":"a"}\n{"text":"b"}\n{"text":"c', true);
  assert.deepEqual(items, [{ text: "a" }, { text: "b" }]);
  assert.equal(skipped, 1);
});

Deno.test("a file in another encoding is refused, not damaged", async () => {
  const latin = Uint8Array.from("Z\u00fcrich", (letter) => letter.charCodeAt(0));
  await assert.rejects(textOf(new Blob([latin])), /not UTF-8/);
  assert.equal(await textOf(new Blob(["Z\u00fcrich \ufffd"])), "Z\u00fcrich \ufffd");
});
