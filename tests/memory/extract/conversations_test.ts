import assert from "node:assert/strict";
import { extractFacts } from "../../../src/memory/extract/facts.ts";

const texts = (...lines: string[]) => extractFacts(lines.join("\n"), 20).map(({ text }) => text);

Deno.test("a label of the author's role is left out, in any of the languages", () => {
  assert.deepEqual(texts("User: I like tea"), ["I like tea"]);
  assert.deepEqual(texts("Human: I like tea", "AI: Noted."), ["I like tea"]);
  assert.deepEqual(texts("Usuario: Soy celíaco.", "Asistente: Entendido."), ["Soy celíaco."]);
  assert.deepEqual(texts("Utilisateur : Je suis végane.", "Assistant : Noté."), [
    "Je suis végane.",
  ]);
  assert.deepEqual(texts("Ich: Ich mag keinen Fisch.", "Tom: Ich auch nicht."), [
    "Ich mag keinen Fisch.",
  ]);
});

Deno.test("a name stays where it tells who `I` is", () => {
  assert.deepEqual(texts("Me: I moved to Porto last month", "Rui: my sister lives there"), [
    "I moved to Porto last month",
    "Rui: my sister lives there",
  ]);
  assert.deepEqual(
    texts("Hi Olwen, the pump is broken. I'm in Ulm until Sunday. Best, Tamsin"),
    ["The pump is broken.", "Tamsin: I'm in Ulm until Sunday."],
  );
});

Deno.test("an assistant's long answer is none of its labels' facts", () => {
  assert.deepEqual(
    texts(
      "User: I'm allergic to nuts.",
      "Assistant: Try this:",
      "Ingredients: 200 g flour",
      "Time: 40 minutes",
      "Serves: 4 people every Sunday",
      "",
      "It never fails.",
      "User: My oven has no fan.",
    ),
    ["I'm allergic to nuts.", "My oven has no fan."],
  );
});

Deno.test("a short answer stands behind its question", () => {
  assert.deepEqual(texts("Nurse: Any allergies?", "Mr. Pell: Latex. And wasps."), [
    "Nurse: Any allergies? – Mr. Pell: Latex. And wasps.",
  ]);
  assert.deepEqual(texts("vera: do u eat fish", "wim: i do not", "vera: ok"), [
    "vera: do u eat fish – wim: i do not",
  ]);
  assert.deepEqual(texts("Assistant: Where do you live?", "User: In Ghent, near the canal"), [
    "Where do you live? – In Ghent, near the canal",
  ]);
  assert.deepEqual(
    texts("Marc: We adopted a greyhound.", "Ingrid: No way! How old?", "Marc: Four."),
    ["Marc: We adopted a greyhound. – Ingrid: How old? – Marc: Four."],
  );
  assert.deepEqual(texts("Assistant: Would you like some tips?", "User: Yes please."), []);
});

Deno.test("a pronoun stands with what it means, or is replaced by it", () => {
  assert.deepEqual(texts("We have a dog. Her name is Nala and she is nine."), [
    "We have a dog. Her name is Nala and she is nine.",
  ]);
  assert.deepEqual(
    texts(
      "Marta: Have you heard from Kofi?",
      "Elias: He broke his collarbone on Saturday. He can't drive for six weeks.",
    ),
    ["Elias: Kofi broke his collarbone on Saturday. He can't drive for six weeks."],
  );
  assert.deepEqual(texts("Can you remind me to call my mother on Sunday? She turns 80."), [
    "My mother turns 80.",
  ]);
  assert.deepEqual(texts("Have you seen the dog? His leg is broken since Monday."), [
    "The dog's leg is broken since Monday.",
  ]);
});

Deno.test("a pronoun that could mean two people keeps the author's word", () => {
  assert.deepEqual(texts("Did you ask Kofi or Bela? He is allergic to cats."), [
    "He is allergic to cats.",
  ]);
  assert.deepEqual(texts("Did you ask my sister? He is allergic to cats."), [
    "He is allergic to cats.",
  ]);
});

Deno.test("a heading and fragments stand with what they belong to", () => {
  assert.deepEqual(texts("Design review Pelican. We keep the side menu."), [
    "Design review Pelican. We keep the side menu.",
  ]);
  assert.deepEqual(texts("Subject: on-call", "", "Team, swaps go through Pradeep."), [
    "on-call: Swaps go through Pradeep.",
  ]);
  assert.deepEqual(texts("Car: next MOT in March. Oil 5W30."), [
    "Car: next MOT in March. Oil 5W30.",
  ]);
  for (const more of ["Thanks!", "Nuala Brannigan", "Great.", "Ugh.", "Bye"]) {
    assert.deepEqual(texts(`I love coffee. ${more}`), ["I love coffee."]);
  }
  assert.deepEqual(texts("Passport expires 11/2027"), ["Passport expires 11/2027"]);
  assert.deepEqual(texts("milk / bin bags / thread (navy)"), []);
});

Deno.test("a line with a verb of its own is a fact of its own", () => {
  assert.deepEqual(texts("Weekly", "- release slips to 4 July", "- Petra owns the changelog"), [
    "Weekly: release slips to 4 July",
    "Petra owns the changelog",
  ]);
});

Deno.test("of two languages in one text each has its own cues", () => {
  assert.deepEqual(
    texts("I moved to Graz in May.", "Meine Schwester wohnt auch in der Stadt. Es hat geregnet."),
    ["I moved to Graz in May.", "Meine Schwester wohnt auch in der Stadt."],
  );
});
