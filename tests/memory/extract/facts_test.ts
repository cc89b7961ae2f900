import assert from "node:assert/strict";
import fc from "fast-check";
import { extractFacts } from "../../../src/memory/extract/facts.ts";
import { sentences } from "../../../src/memory/extract/sentences.ts";

const texts = (text: string, most = 20) => extractFacts(text, most).map((fact) => fact.text);

Deno.test("facts are the text's own sentences; questions and greetings are none", () => {
  assert.deepEqual(
    texts(
      "Hi Sam! I'm allergic to peanuts. Do you like tea? My sister lives near Dr. Novak in Brno. " +
        "She moved there in 2019. Take care!",
    ),
    [
      "I'm allergic to peanuts.",
      "My sister lives near Dr. Novak in Brno. She moved there in 2019.",
    ],
  );
  for (const nothing of ["", "   ", "ok", "How are you? Fine, thanks!", "!!!", "?"]) {
    assert.deepEqual(texts(nothing), []);
  }
});

Deno.test("a fact of a conversation names who said it, and an assistant says none", () => {
  const chat = "[09:12] Priya: I'm moving to Leeds in September.\n" +
    "[09:13] Owen: Congratulations!\n[09:14] Priya: It's close to my sister in York.";
  assert.deepEqual(texts(chat), [
    "Priya: I'm moving to Leeds in September. It's close to my sister in York.",
  ]);
  assert.deepEqual(
    texts(
      "user: I don't eat pork.\nassistant: I will remember that you never eat pork on Mondays.",
    ),
    ["I don't eat pork."],
  );
  assert.deepEqual(texts("Decision: we ship version 2.4 in June"), [
    "Decision: we ship version 2.4 in June",
  ]);
});

Deno.test("a pronoun's predecessor is taken along once, and not without end", () => {
  const [fact = "", ...rest] = texts("The cabin has no heating. It was built by my uncle in 1970.");
  assert.equal(fact, "The cabin has no heating. It was built by my uncle in 1970.");
  assert.deepEqual(rest, []);
  const chain = "My uncle built the cabin in 1970. " + "He sold it again in 1980. ".repeat(8);
  for (const joined of texts(chain)) {
    assert.ok(joined.length <= 280 && sentences(joined).length <= 3, joined);
  }
});

Deno.test("importance is one of three classes", () => {
  const of = (text: string) => extractFacts(text, 20).map((fact) => fact.importance);
  assert.deepEqual(of("I am allergic to penicillin and to wasp stings."), [0.9]);
  assert.deepEqual(of("The mooring at Kilmory costs 340 a year."), [0.5]);
  assert.deepEqual(of("I bought two tickets for the museum yesterday."), [0.2]);
});

Deno.test("of a long text the best facts are kept, in the text's order", () => {
  const lines = Array.from({ length: 60 }, (_, n) => `The mooring number ${n} costs ${n} a year.`);
  lines[40] = "I am allergic to peanuts and my daughter Mia is allergic to milk since 2019.";
  const found = texts(lines.join("\n"));
  assert.equal(found.length, 20);
  assert.ok(found.includes(lines[40]));
  const order = found.map((fact) => lines.indexOf(fact));
  assert.deepEqual(order, [...order].sort((a, b) => a - b));
  assert.deepEqual(texts(lines.join("\n"), 0), []);
});

Deno.test("of a language without cues every statement is kept", () => {
  assert.deepEqual(
    texts(
      "Mijn zus woont in Gent en werkt bij de post. Hoe laat is het? Ik eet geen varkensvlees.",
    ),
    ["Mijn zus woont in Gent en werkt bij de post.", "Ik eet geen varkensvlees."],
  );
  assert.deepEqual(texts("Я живу в Берлине. У меня есть собака. Как дела?"), [
    "Я живу в Берлине.",
    "У меня есть собака.",
  ]);
  assert.deepEqual(texts("milk, onions, bin bags, batteries"), []);
  assert.deepEqual(texts("母の誕生日は五月三日です。元気ですか？"), ["母の誕生日は五月三日です。"]);
});

Deno.test("any text gives well-formed facts of bounded number and length", () => {
  const part = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }).filter((text) => text.isWellFormed()),
    fc.constantFrom("user: ", "\n", ". ", "I am 5. ", '"', "It is mine. ", "> ", "- ", ": "),
  );
  fc.assert(fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
    for (const { text, importance } of extractFacts(parts.join(""), 20)) {
      assert.ok(text.trim() !== "" && text.isWellFormed() && text.length <= 700);
      assert.ok([0.9, 0.5, 0.2].includes(importance));
    }
  }));
  // Texts of the full 64 KiB that slow patterns would stumble over.
  for (
    const unit of ['"', ".", "。”", '. "', "a", "a: ", "> ", "I am 5. ", " ", "\n- ", "It is. "]
  ) {
    assert.ok(extractFacts(unit.repeat(65_536 / unit.length), 20).length <= 20);
  }
});

Deno.test("long runs of anything end, and give no more facts than were asked for", () => {
  const piece = fc.oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 12 }),
    fc.constantFrom(
      "“",
      "?",
      ",",
      " a",
      "A ",
      "Aa-",
      "his ",
      "ich ",
      "j'",
      "¿",
      "1. ",
      "[1",
      "uh ",
    ),
    fc.constantFrom(
      "\nA: ",
      "\nUser: ",
      "\nBest, A",
      "hi A, ",
      " and i ",
      " / ",
      ": ",
      "no ",
      "\u2028",
    ),
  );
  const runs = fc.array(fc.tuple(piece, fc.integer({ min: 1, max: 8000 })), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(runs, fc.integer({ min: 0, max: 20 }), (parts, most) => {
      const text = parts.map(([unit, times]) => unit.repeat(times)).join("").slice(0, 65_536);
      const found = extractFacts(text, most);
      assert.ok(found.length <= most);
      assert.ok(found.every((fact) => fact.text.trim() !== "" && fact.text.length <= 1200));
    }),
    { numRuns: 60 },
  );
});

Deno.test("a long run in front of a colon is nobody's name", () => {
  const [fact] = extractFacts(`${"j'".repeat(3_000)}: I live in Ulm now.\nA: \nA: `, 1);
  assert.ok(fact !== undefined && fact.text.length <= 1200, fact?.text);
});

Deno.test("every word of a fact is in its text", () => {
  const sentence = fc.constantFrom(
    "My sister Ana lives in Ulm. ",
    "She hates tea. ",
    "Is Bo home?\n",
    "Best, Tom",
    "\nTom: we moved to Graz in May",
    "\nAna: since when?",
    "\nUser: in may. ",
    "Ich bin Veganer. ",
    "Hi Bo, the code is 7714. ",
    "It is broken. ",
  );
  fc.assert(fc.property(fc.array(sentence, { maxLength: 12 }), (parts) => {
    const text = parts.join("");
    const words = new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
    for (const fact of extractFacts(text, 20)) {
      for (const word of fact.text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
        assert.ok(words.has(word) || word === "s", `${word} in ${fact.text}`);
      }
    }
  }));
});
