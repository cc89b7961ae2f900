import assert from "node:assert/strict";
import { WEIGHTS_FOLDER } from "../../../plugins/use_lite/folders.ts";
import { type Piece, Tokenizer } from "../../../plugins/use_lite/engine/tokenizer.ts";
import { excerpts, windowsOf } from "../../../plugins/use_lite/engine/windows.ts";

const file = new URL("vocab.json", WEIGHTS_FOLDER);
const tokenizer = new Tokenizer(JSON.parse(await Deno.readTextFile(file)) as Piece[]);
const windows = (text: string, purpose: "document" | "query" = "document") =>
  windowsOf(tokenizer, excerpts(text, purpose));
const flatten = (parts: readonly Uint16Array[]) => parts.flatMap((part) => [...part]);
const SENTENCE = "I really enjoyed the trip we took to the mountains with my two brothers. ";

Deno.test("texts without known pieces are one unknown token", () => {
  for (const text of ["", " ", "\n\t\u00a0", "\0"]) {
    assert.deepEqual([...tokenizer.encode(text)], [0]);
  }
  for (const text of ["\u{1f600}\u{1f600}", "\ud83d", "\udc00\ud800", "\u4e2d\u6587"]) {
    const ids = [...tokenizer.encode(text)];
    assert.equal(ids.filter((id) => id === 0).length, 1);
    assert.ok(ids.length <= 2);
  }
});

Deno.test("white space of any kind separates words once", () => {
  const expected = tokenizer.encode("I like tea. You like coffee.");
  for (
    const text of [" I like  tea.\n\nYou\tlike coffee. ", "I like tea.\r\nYou like\u3000coffee."]
  ) {
    assert.deepEqual(tokenizer.encode(text), expected);
  }
});

Deno.test("compatible characters are the same", () => {
  assert.deepEqual(tokenizer.encode("\uff34\uff25\uff21 \ufb01ne"), tokenizer.encode("TEA fine"));
});

Deno.test("of a run of combining marks, only 30 count", () => {
  const marks = "\u0301\u0316".repeat(15);
  assert.deepEqual(tokenizer.encode(`a${marks} b`), tokenizer.encode(`a${marks.repeat(500)} b`));
});

Deno.test("a vocabulary too large for the index is refused", () => {
  const pieces = Array.from(
    { length: 70_000 },
    (_, i): Piece => [String.fromCharCode(i % 65536) + i, 0],
  );
  assert.throws(() => new Tokenizer(pieces), RangeError);
});

Deno.test("a document of up to 128 tokens is one window", () => {
  const text = SENTENCE.repeat(7);
  const tokens = tokenizer.encode(text);
  assert.ok(tokens.length > 100 && tokens.length <= 128);
  assert.deepEqual(windows(text), [tokens]);
});

Deno.test("windows cover a document and end with its sentences", () => {
  for (const count of [10, 40, 90]) {
    const text = SENTENCE.repeat(count);
    const parts = windows(text);
    assert.deepEqual(flatten(parts), [...tokenizer.encode(text)]);
    assert.ok(parts.length > 1 && parts.length <= 16, `${parts.length}`);
    for (const part of parts) {
      assert.ok(part.length >= 32 && part.length <= 128, `${part.length}`);
      assert.ok(tokenizer.endsSentence(part.at(-1)!));
    }
  }
});

Deno.test("without sentences, windows end between words", () => {
  const text = "the quiet mountains above our village ".repeat(60);
  const parts = windows(text);
  assert.deepEqual(flatten(parts), [...tokenizer.encode(text)]);
  for (const part of parts) assert.ok(tokenizer.startsWord(part[0]!));
});

Deno.test("one endless word is cut anywhere", () => {
  const text = "abcdefghij".repeat(300);
  const parts = windows(text);
  assert.deepEqual(flatten(parts), [...tokenizer.encode(text)]);
  assert.ok(parts.every((part) => part.length <= 128));
});

Deno.test("a document too dense for 16 windows is sampled from start to end", () => {
  const text = Array.from({ length: 1400 }, (_, i) => `q${i}x.`).join(" ");
  const all = [...tokenizer.encode(text)];
  const parts = windows(text);
  assert.ok(all.length > 16 * 128);
  assert.equal(parts.length, 16);
  assert.equal(parts[0]![0], all[0]);
  assert.equal(parts[15]!.at(-1), all.at(-1));
});

Deno.test("only excerpts of a very long document are looked at", () => {
  const text = Array.from({ length: 150_000 }, (_, i) => `word${i}`).join(" ");
  const { parts, windows: perPart } = excerpts(text, "document");
  assert.equal(parts.length, 16);
  assert.equal(perPart, 1);
  assert.ok(parts[0]!.startsWith("word0 "));
  assert.ok(parts[15]!.endsWith(" word149999"));
  const starts = parts.map((part) => text.indexOf(part));
  const step = text.length / 15;
  starts.forEach((start, i) => assert.ok(Math.abs(start - i * step) < 600));
  for (const part of parts) {
    assert.match(part, /^word\d+ (word\d+ )+word\d+$/);
    assert.ok(part.length > 340 && part.length <= 480);
  }
  assert.equal(windows(text).length, 16);
});

Deno.test("a very long text without white space has 16 windows", () => {
  const parts = windows("x".repeat(1 << 20));
  assert.equal(parts.length, 16);
  assert.ok(parts.every((part) => part.length > 0 && part.length <= 128));
});

Deno.test("a query is its first window", () => {
  for (const count of [1, 30, 20_000]) {
    const text = SENTENCE.repeat(count);
    const parts = windows(text, "query");
    const first = tokenizer.encode(text.slice(0, 20_000)).subarray(0, 128);
    assert.deepEqual(parts, [first]);
  }
});
