import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { embeddingTraits } from "../../../plugins/shared/models/model_table.ts";
import {
  documentWindows,
  estimatedTokens,
  halves,
  MAX_WINDOWS,
  queryWindow,
} from "../../../plugins/shared/models/text_windows.ts";

const texts = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 3000 }),
  fc.array(fc.constantFrom("tea ", "서울에 ", "🎉", "a. ", "\n", "Donaudampfschiff"), {
    maxLength: 600,
  }).map((parts) => parts.join("")),
);

Deno.test("windows of any text are short, whole characters, at most 16, and cover what fits", () => {
  fc.assert(fc.property(texts, fc.integer({ min: 2, max: 64 }), (text, tokens) => {
    const windows = documentWindows(text, tokens);
    ok(windows.length >= 1 && windows.length <= MAX_WINDOWS);
    for (const window of windows) {
      ok(estimatedTokens(window) <= tokens, `${estimatedTokens(window)} tokens`);
      ok(window.isWellFormed());
      ok(text.includes(window));
    }
    ok(text === "" || windows.every((window) => window !== ""));
    if (windows.length < MAX_WINDOWS) strictEqual(windows.join(""), text);
    ok(text.startsWith(windows[0]!));
    ok(text.endsWith(windows.at(-1)!));
    ok(text.startsWith(queryWindow(text, tokens)));
    strictEqual(halves(text).join(""), text);
    ok(halves(text).every((half) => half.isWellFormed()));
  }));
});

Deno.test("the last window is never empty", () => {
  for (const end of ["tea 서울에 tea ", "tea 서울에 ", "a🎉", "tea🎉", "🎉 ", "\n", "a"]) {
    for (const tokens of [2, 3, 4]) {
      const text = "tea 서울에 서울에 Donaudampfschiff🎉".repeat(4) + end;
      const last = documentWindows(text, tokens).at(-1)!;
      ok(last !== "" && text.endsWith(last), `${JSON.stringify(end)} ${tokens}`);
    }
  }
});

Deno.test("a megabyte costs no more than what is looked at", () => {
  const text = "river stone lamp green ".repeat(50_000);
  const windows = documentWindows(text, 512);
  strictEqual(windows.length, 16);
  const looked = windows.reduce((sum, window) => sum + window.length, 0);
  ok(looked <= 16 * 512 * 3);
});

Deno.test("models get the prefixes they were trained with", () => {
  const prefixes = (model: string) => {
    const { document, query } = embeddingTraits(model);
    return [document, query];
  };
  deepStrictEqual(prefixes("nomic-embed-text:v1.5"), ["search_document: ", "search_query: "]);
  deepStrictEqual(prefixes("intfloat/multilingual-e5-large"), ["passage: ", "query: "]);
  deepStrictEqual(prefixes("text-embedding-3-small"), ["", ""]);
  deepStrictEqual(prefixes("bge-m3"), ["", ""]);
  strictEqual(prefixes("bge-large-en-v1.5")[0], "");
  ok(prefixes("mxbai-embed-large")[1]!.startsWith("Represent this sentence"));
});
