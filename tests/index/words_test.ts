import assert from "node:assert/strict";
import { eachRun } from "../../src/index/letter_runs.ts";
import { folded, hashOf, words } from "../../src/index/words.ts";

const wordsOf = (text: string): string[] => words(folded(text));

function runsOf(text: string): number[] {
  const runs: number[] = [];
  eachRun(folded(text), (hash) => runs.push(hash));
  return runs;
}

Deno.test("words are stemmed, and those that say nothing are left out", () => {
  assert.deepEqual(wordsOf("What is the name of my dogs?"), ["name", "dog"]);
  assert.deepEqual(wordsOf("Nadia's cat, and the girls\u2019 cats"), [
    "nadia",
    "cat",
    "girl",
    "cat",
  ]);
  assert.deepEqual(wordsOf("NET-2271 at 7:42"), ["net", "2271", "7", "42"]);
  assert.deepEqual(wordsOf("?! …"), []);
});

Deno.test("a text of ASCII characters has the words and runs it has among others", () => {
  const texts = [
    "it's o'clock12 at 'noon'",
    "a'b'c d''e 'tis",
    "x's' 7's y'z9 don't",
    "",
    "-- ' --",
  ];
  for (const text of texts) {
    // One character beyond ASCII, that is no word, sends the text the general way.
    assert.deepEqual(words(text), words(`${text} …`), text);
    assert.deepEqual(runsOf(text), runsOf(`${text} …`), text);
  }
  assert.deepEqual(words("o'clock12 x's"), ["oclock", "12", "x"]);
});

Deno.test("accents, width and case make no difference, other letters do", () => {
  assert.deepEqual(wordsOf("Café ＴＯＫＹＯ Straße"), wordsOf("cafe tokyo strasse"));
  assert.notDeepEqual(wordsOf("が"), wordsOf("か"));
  assert.deepEqual(wordsOf("고양이 건강"), ["고양이", "건강"]);
});

Deno.test("letter runs are those of 3 and 4 characters, with the ends of words", () => {
  const expected = [" ca", " cat", "cat", "cat ", "at "].map(hashOf);
  assert.deepEqual(runsOf("Cat!"), expected);
  assert.deepEqual(runsOf("고양"), [" 고", " 고양", "고양", "고양 ", "양 "].map(hashOf));
  assert.deepEqual(runsOf(" . "), []);
});
