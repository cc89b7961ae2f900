import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { type FoundConversation, labelOf, textsForAnalyze } from "../../src/importers/mod.ts";
import { ANALYZE_TEXT_BYTES } from "../../src/wire/limits.ts";

const bytes = (text: string): number => new TextEncoder().encode(text).length;

const transcript = ({ turns }: FoundConversation): string =>
  turns.map(({ speaker, text }) => labelOf(speaker) + text).join("\n");

/** Puts the texts together again. */
function joined(conversation: FoundConversation): string {
  return textsForAnalyze(conversation).reduce((all, { text, continues }, at) => {
    if (at === 0) return text;
    return continues ? all + text.replace(/^(?:User|Assistant): /, "") : `${all}\n${text}`;
  }, "");
}

function check(conversation: FoundConversation): void {
  for (const { text } of textsForAnalyze(conversation)) {
    ok(bytes(text) <= ANALYZE_TEXT_BYTES);
    ok(text.isWellFormed());
    ok(/^(?:User|Assistant): /.test(text));
  }
  strictEqual(joined(conversation), transcript(conversation));
}

Deno.test("a short conversation is one text", () => {
  const conversation: FoundConversation = {
    startedAt: "2025-01-01T00:00:00.000Z",
    turns: [{ speaker: "user", text: "Hi" }, { speaker: "assistant", text: "Hello\nthere" }],
  };
  deepStrictEqual(textsForAnalyze(conversation), [{
    text: "User: Hi\nAssistant: Hello\nthere",
    continues: false,
    at: "2025-01-01T00:00:00.000Z",
  }]);
  deepStrictEqual(textsForAnalyze({ turns: [] }), []);
});

Deno.test("a long conversation is cut between turns, and each text knows when it began", () => {
  const turns = Array.from({ length: 100 }, (_, n) => ({
    speaker: n % 2 === 0 ? "user" as const : "assistant" as const,
    text: "é".repeat(1500),
    at: new Date(n).toISOString(),
  }));
  const texts = textsForAnalyze({ turns });
  ok(texts.length > 1 && texts.every(({ continues }) => !continues));
  strictEqual(texts[1]?.at, new Date(texts[0]!.text.split("\n").length).toISOString());
  check({ turns });
});

Deno.test("turns that fill a text to the byte are not cut", () => {
  const text = "x".repeat(ANALYZE_TEXT_BYTES - "User: ".length);
  deepStrictEqual(textsForAnalyze({ turns: [{ speaker: "user", text }] }).length, 1);
  const half = "x".repeat(ANALYZE_TEXT_BYTES / 2 - "User: ".length);
  const turn = { speaker: "user" as const, text: half };
  // The line feed between them is one byte too many.
  deepStrictEqual(textsForAnalyze({ turns: [turn, turn] }).length, 2);
  const less = { speaker: "user" as const, text: half.slice(1) };
  deepStrictEqual(textsForAnalyze({ turns: [turn, less] }).length, 1);
});

Deno.test("a longer turn is cut after a sentence, else at a space, else between code points", () => {
  const sentence = `${"word ".repeat(20)}end. `;
  for (const text of [sentence.repeat(2000), "word ".repeat(40_000), "😀".repeat(40_000)]) {
    const conversation = { turns: [{ speaker: "assistant" as const, text }] };
    const texts = textsForAnalyze(conversation);
    ok(texts.length > 1 && texts.slice(1).every(({ continues }) => continues));
    check(conversation);
  }
  const [first] = textsForAnalyze({ turns: [{ speaker: "user", text: sentence.repeat(2000) }] });
  ok(first?.text.endsWith("end. "));
  const [second] = textsForAnalyze({ turns: [{ speaker: "user", text: "word ".repeat(40_000) }] });
  ok(second?.text.endsWith("word "));
});

Deno.test("a text of one megabyte and many turns are cut in no time", () => {
  const text = "\u00e4 ".repeat(349_000);
  check({ turns: [{ speaker: "user", text }] });
  check({ turns: Array.from({ length: 10_000 }, () => ({ speaker: "user", text: "Hi there" })) });
});

Deno.test("nothing of any conversation is lost", () => {
  const piece = fc.constantFrom(
    "a",
    " ",
    ". ",
    "\n",
    "é",
    "😀",
    "User: ",
    "。",
    "x".repeat(30_000),
  );
  const turn = fc.record({
    speaker: fc.constantFrom("user" as const, "assistant" as const),
    text: fc.array(piece, { minLength: 1, maxLength: 8 }).map((parts) => parts.join("")),
  });
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 5 }), (turns) => check({ turns })),
    { numRuns: 60 },
  );
});
