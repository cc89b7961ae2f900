import assert from "node:assert/strict";
import { eachRun } from "../../src/index/words/letter_runs.ts";
import { folded, hashOf, shortNgrams, words } from "../../src/index/words/words.ts";

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
  assert.deepEqual(wordsOf("고양이 건강"), ["고양", "양이", "건강"]);
});

Deno.test("scripts written without spaces have n-grams for words", () => {
  assert.deepEqual(wordsOf("我的猫, 北京"), ["我的", "的猫", "北京"]);
  assert.deepEqual(wordsOf("東京のルーター"), ["東京", "京の", "のル", "ルー", "ータ", "ター"]);
  assert.deepEqual(wordsOf("猫"), ["猫"]);
  assert.deepEqual(wordsOf("ｶﾞｷﾞ"), ["ガギ"]);
  // Marks belong to their letters, and an alphabet has trigrams.
  assert.deepEqual(wordsOf("กับแมว"), ["กับแ", "บแม", "แมว"]);
  assert.deepEqual(wordsOf("สี"), ["สี"]);
  assert.deepEqual(wordsOf("葛\u{e0100}城市"), ["葛\u{e0100}城", "城市"]);
  assert.deepEqual(wordsOf("𠮷野家"), ["𠮷野", "野家"]);
});

Deno.test("a script written without spaces ends where another one begins", () => {
  assert.deepEqual(wordsOf("预算5000元iPhones手机"), ["预算", "5000", "元", "iphon", "手机"]);
  assert.deepEqual(wordsOf("서울大学 5000원"), ["서울", "大学", "5000", "원"]);
  assert.deepEqual(wordsOf("ครู中文"), ["ครู", "中文"]);
});

Deno.test("an apostrophe that Thai shares with other scripts is a letter of theirs", () => {
  assert.deepEqual(wordsOf("обʼєднання мʼята cʼhoar"), ["обʼєднання", "мʼята", "cʼhoar"]);
});

Deno.test("shorter n-grams are those that are no words", () => {
  const shorter = (text: string): string[] => shortNgrams(folded(text));
  assert.deepEqual(shorter("我的猫 tea é 狗"), ["我", "的", "猫"]);
  assert.deepEqual(shorter("กับแม"), ["กับ", "บแ", "แม", "กั", "บ", "แ", "ม"]);
  assert.deepEqual(shorter("plain tea"), []);
});

Deno.test("an emoji is a word, whatever its skin tone, and flags are told apart", () => {
  assert.deepEqual(wordsOf("party 🎉 tonight"), ["parti", "🎉", "tonight"]);
  assert.deepEqual(wordsOf("👍🏽 ❤️"), wordsOf("👍 ❤"));
  assert.deepEqual(wordsOf("🇯🇵🇩🇪"), ["🇯🇵", "🇩🇪"]);
  assert.deepEqual(wordsOf("Tea® © 2024"), ["tea", "2024"]);
});

Deno.test("letter runs are those of 3 and 4 characters, with the ends of words", () => {
  const expected = [" ca", " cat", "cat", "cat ", "at "].map(hashOf);
  assert.deepEqual(runsOf("Cat!"), expected);
  assert.deepEqual(runsOf("고양"), [" 고", " 고양", "고양", "고양 ", "양 "].map(hashOf));
  assert.deepEqual(runsOf(" . "), []);
});
