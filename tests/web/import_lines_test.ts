import assert from "node:assert/strict";
import { batchFrom } from "../../web/src/memory/import/batches.ts";
import {
  isOwnNdjson,
  type PlacedLine,
  readNdjson,
  readTextLines,
  textOf,
} from "../../web/src/memory/import/import_lines.ts";

Deno.test("a text has a memory on each line", async () => {
  const { items } = await readTextLines("I like tea\r\n\n  My sister is Ada  \n");
  assert.deepEqual(items, [
    { where: "line 1", line: { text: "I like tea" } },
    { where: "line 3", line: { text: "My sister is Ada" } },
  ]);
  assert.deepEqual((await readTextLines("")).items, []);
});

const lines = (...values: readonly unknown[]) => values.map((it) => JSON.stringify(it)).join("\n");
const HEADER = { type: "header", format: "svc-export/1" };

Deno.test("lines of an export are kept as they are; what it left out is counted", async () => {
  const a = { type: "memory", memory_id: "x", text: "a", version: 3, created_at: "2026-01-01" };
  const b = { text: "b", metadata: { nested: {} } };
  const content = lines(HEADER, a, b, { type: "error", code: "manual_memory" }, {
    type: "version",
    text: "before",
  }, { type: "end" });
  const read = await readNdjson(content);
  assert.deepEqual(read.items, [{ where: "line 2", line: a }, { where: "line 3", line: b }]);
  assert.deepEqual([read.leftOut, read.versions], [1, 1]);
  assert.deepEqual(read.broken, []);
  assert.equal(read.isIncomplete, false);
});

Deno.test("broken lines are named, and an end that is missing is noticed", async () => {
  const content = `${lines(HEADER, { text: "a" })}\n[1]\n{"text":"b`;
  const { items, broken, isIncomplete } = await readNdjson(content);
  assert.equal(items.length, 1);
  assert.deepEqual(broken, ["line 3", "line 4"]);
  assert.equal(isIncomplete, true);
  assert.equal((await readNdjson(lines({ text: "a" }))).isIncomplete, false);
});

Deno.test("the first line says whether a file is an export of this product", () => {
  assert.equal(isOwnNdjson(lines(HEADER)), true);
  assert.equal(isOwnNdjson(`\n ${lines({ text: "a" })}`), true);
  assert.equal(isOwnNdjson(lines({ type: "entity", name: "Ada", observations: [] })), false);
  assert.equal(isOwnNdjson("plain\n{}"), false);
  assert.equal(isOwnNdjson(""), false);
});

const item = (text: string, line: object = {}): PlacedLine => ({
  where: "line 1",
  line: { text, ...line },
});

Deno.test("a batch has at most 200 lines and 1 MiB, and one line at least", () => {
  const sizeFrom = (items: readonly PlacedLine[], from = 0) =>
    batchFrom(items, from, () => "default")?.items.length;
  const short = Array.from({ length: 450 }, (_, i) => item(`fact ${i}`));
  assert.equal(sizeFrom(short), 200);
  assert.equal(sizeFrom(short, 400), 50);
  assert.equal(sizeFrom(short, 450), undefined);
  const long = Array.from({ length: 5 }, () => item("\u00e4".repeat(200_000)));
  assert.equal(sizeFrom(long), 2);
  assert.equal(sizeFrom([item("x".repeat(3_000_000)), item("a")]), 1);
});

Deno.test("a line is sent as a memory, with its namespace", () => {
  const items = [item("a", { type: "odd", namespace: "work" }), item("b")];
  const batch = batchFrom(items, 0, ({ namespace }) => namespace ?? "default");
  assert.deepEqual(batch?.ndjson.split("\n").map((line) => JSON.parse(line)), [
    { text: "a", type: "memory", namespace: "work" },
    { text: "b", type: "memory", namespace: "default" },
  ]);
});

Deno.test("a file in another encoding is refused, not damaged", async () => {
  const latin = Uint8Array.from("Z\u00fcrich", (letter) => letter.charCodeAt(0));
  await assert.rejects(textOf(new Blob([latin])), /not UTF-8/);
  assert.equal(await textOf(new Blob(["Z\u00fcrich \ufffd"])), "Z\u00fcrich \ufffd");
});
