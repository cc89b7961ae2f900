import assert from "node:assert/strict";
import { ENGLISH } from "../../../src/memory/extract/languages/english.ts";
import { FRENCH } from "../../../src/memory/extract/languages/french.ts";
import { GERMAN } from "../../../src/memory/extract/languages/german.ts";
import { languageOf } from "../../../src/memory/extract/languages/recognise.ts";
import { SPANISH } from "../../../src/memory/extract/languages/spanish.ts";
import { signed } from "../../../src/memory/extract/signature.ts";
import { statements } from "../../../src/memory/extract/statements.ts";

const said = (text: string) => [...statements(text)].map((statement) => statement.text);

Deno.test("a language is known by its small words, and its neighbours are not taken for it", () => {
  const cases = [
    ["The bench by the pond was agreed for 640.", ENGLISH],
    ["u still w tomasz", ENGLISH],
    ["Ich vertrage keinen Knoblauch.", GERMAN],
    ["wann kommst du nach hause", GERMAN],
    ["Mi hermano es celíaco desde niño.", SPANISH],
    ["J'adore la mer.", FRENCH],
    ["Milk, onions", "unclear"],
    ["母の誕生日は五月三日です。", "other"],
    ["De bank is open en wij hebben een afspraak.", "other"],
    ["Jag bor i Lund och har inte en bil.", "other"],
    ["Abito a Torino con mia sorella e non ho la macchina.", "other"],
  ] as const;
  for (const [text, language] of cases) assert.equal(languageOf(text), language, text);
});

Deno.test("greetings and fillers in front go, and nothing else", () => {
  const cases = [
    ["Hello Ansgar, the panel wants one PDF.", "The panel wants one PDF."],
    ["okay so the recipe uh Dad does it with vinegar", "the recipe Dad does it with vinegar"],
    ["btw I moved to Leeds", "I moved to Leeds"],
    ["Liebe Frau Sommer, der Termin ist um 9 Uhr.", "Der Termin ist um 9 Uhr."],
    ["Estimado señor Quiroga: le confirmo la cita.", "Le confirmo la cita."],
    ["Bonjour Odile, je suis à Nantes.", "Je suis à Nantes."],
    ["Thanks", "Thanks"],
    ["Henrik is my brother.", "Henrik is my brother."],
  ];
  for (const [text = "", expected] of cases) assert.deepEqual(said(text), [expected]);
});

Deno.test("a statement that ends as a question is told from it", () => {
  const found = [...statements("I'm a vegetarian, what can I cook?")];
  assert.deepEqual(found.map(({ text, asks }) => [text, asks]), [
    ["I'm a vegetarian", false],
    ["what can I cook?", true],
  ]);
  assert.deepEqual(said("So, what can I cook?"), ["What can I cook?"]);
});

Deno.test("questions of chats need no mark", () => {
  const cases: [string, boolean][] = [
    ["do u eat fish", true],
    ["where to", true],
    ["wann fährst du", true],
    ["t'as faim", true],
    ["what i like is tea", false],
    ["when we lived in graz we had a dog", false],
  ];
  for (const [text, expected] of cases) {
    assert.deepEqual([...statements(text)].map(({ asks }) => asks), [expected], text);
  }
});

Deno.test("dictation without punctuation is cut where the next thing begins", () => {
  const text =
    "okay so the wedding is on the ninth of august at the old mill in cray and we have eighty " +
    "guests so far and my aunt makes the cake for us and she needs to know the number by june and " +
    "the band wants four hundred up front and they play until one in the morning";
  const found = said(text);
  assert.ok(found.length >= 3);
  assert.ok(found.every((part) => part.split(" ").length >= 10));
  assert.equal(found[0], "the wedding is on the ninth of august at the old mill in cray");
});

Deno.test("who signed a letter is known, and the end of the letter is no fact", () => {
  assert.deepEqual(signed("I moved.\n\nBest wishes,\nRenske Vos\n", ENGLISH), {
    body: "I moved.\n",
    name: "Renske Vos",
  });
  assert.equal(signed("I'll fetch him. Best, Tamsin", ENGLISH).name, "Tamsin");
  assert.equal(signed("Je loge à Nantes.\nBises,\nFanny", FRENCH).name, "Fanny");
  assert.equal(signed("Ich komme. Viele Grüße, Anke", GERMAN).name, "Anke");
  assert.equal(signed("Voy el lunes. Un abrazo, Marta", SPANISH).name, "Marta");
  for (
    const text of ["", "\n", "I love Paris", "Best of all was the soup.", "We met Tom\nin Ulm"]
  ) {
    assert.deepEqual(signed(text, ENGLISH), { body: text });
  }
});
