import assert from "node:assert/strict";
import { onOneLine, printable } from "../src/printable.ts";

Deno.test("what steers a terminal, hides or turns a text is shown as an escape", () => {
  const shown = [
    ["\u001b[2J\u009b31m\u0007\u0000\u007f", "\\u{1b}[2J\\u{9b}31m\\u{7}\\u{0}\\u{7f}"],
    ["a\u202eb\u2066c\u200fd\u061c", "a\\u{202e}b\\u{2066}c\\u{200f}d\\u{61c}"],
    [
      "\ufeff\u200b\u00ad\u2060\u{e0041}\u3164",
      "\\u{feff}\\u{200b}\\u{ad}\\u{2060}\\u{e0041}\\u{3164}",
    ],
    ["\ud800", "\\u{d800}"],
  ];
  for (const [text, expected] of shown) {
    assert.equal(printable(text!), expected);
    assert.equal(onOneLine(text!), expected);
  }
});

Deno.test("letters, marks and emojis stay as they are", () => {
  const text = "Ångström, naïve, می‌خواهم, שלום, 👨‍👩‍👧, ☕️, 日本語, \\u{1b}";
  assert.equal(onOneLine(text), text);
  assert.equal(printable(`${text}\n\t${text}`), `${text}\n\t${text}`);
});

Deno.test("one line is one line, whatever ends the text has", () => {
  const ends = "a\nb\r\nc\rd\ve\ff\u0085g\u2028h\u2029i\tj";
  assert.equal(onOneLine(ends), "a↵b↵c↵d↵e↵f↵g↵h↵i j");
  assert.equal(printable("a\r\nb\u2028c"), "a\\u{d}\nb\\u{2028}c");
});
