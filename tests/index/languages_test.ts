import assert from "node:assert/strict";
import { LexicalIndex } from "../../src/index/words/lexical_index.ts";
import { analysed, analysedQuery, foreignLanguage } from "../../src/index/words/words.ts";

function indexOf(texts: readonly string[]): LexicalIndex {
  const index = new LexicalIndex();
  texts.forEach((text, slot) => {
    index.add();
    index.set(slot, text);
  });
  return index;
}

/** Slots of the texts that have a word of a query, best first. */
function found(index: LexicalIndex, query: string): number[] {
  const { words } = index.score(query);
  return Array.from(words, (score, slot) => ({ score, slot }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ slot }) => slot);
}

Deno.test("the language of a text shows in its commonest words, letters and script", () => {
  const texts = {
    de: "Die Reifen liegen bei meinem Bruder",
    nl: "Mijn zus woont met haar man in een huis",
    sv: "Jag har en hund som heter Bella",
    da: "Hvor bor min bror nu?",
    es: "¿Dónde vive mi hermano?",
    fr: "Qu'est-ce que j'aime boire ?",
    pt: "Onde não posso estacionar o carro?",
    it: "Dove abita mia sorella?",
    ru: "Где живёт мой брат?",
    uk: "Де живе мій брат?",
    zh: "我住在北京",
    ja: "東京に住んでいる",
    ko: "서울에 산다",
    ar: "أسكن في القاهرة",
    he: "אני גר בירושלים",
    hi: "मैं दिल्ली में रहता हूँ",
    th: "ฉันอยู่กรุงเทพ",
  };
  for (const [language, text] of Object.entries(texts)) {
    assert.equal(foreignLanguage(text), language, text);
  }
});

Deno.test("English is not taken for another language, and neither are names and codes", () => {
  const texts = [
    "Anna's favourite film is La Vita e Bella",
    "I fly from Los Angeles to São Paulo",
    "We'd like to stay at the Hotel de la Paix",
    "sha256: 91fbbdde1e4e0a879ceca9416609f1443f1fbe5e3deae611c509",
    "NET-2271 e4 d5",
    "The café near the 東京 embassy",
    "",
    "…",
    "Kindergarten",
  ];
  for (const text of texts) assert.equal(foreignLanguage(text), undefined, text);
});

Deno.test("words are stemmed by the language of their text, and found by other forms", () => {
  const pairs = [
    ["Ich mag keine Rosinen im Kuchen", "Welche Rosine ist in den Kuchen?"],
    ["Mis sobrinas cantan en el coro", "¿Quién de mis sobrinos canta?"],
    ["Nous avons loué des vélos", "Quel vélo est-ce que je loue ?"],
    ["As crianças comem maçãs", "Quem comeu a maçã?"],
    ["Мои братья живут в Москве", "Где живёт мой брат?"],
    ["طبيبتي في القاهرة", "أين الطبيبة؟"],
    ["سيارتي أمام البيت", "أين السيارة؟"],
    ["कपड़े अलमारी में रखे हैं", "अलमारियों में क्या है?"],
    ["מפתחות הבית אצל השכן", "איפה המפתח של הבית?"],
    ["자전거를 도서관에서 잃어버렸다", "자전거는 어디 있어?"],
  ] as const;
  for (const [text, query] of pairs) {
    assert.deepEqual(found(indexOf([text]), query), [0], `${query} → ${text}`);
  }
});

Deno.test("an article before an apostrophe is a word of its own where the language has them", () => {
  assert.deepEqual(analysed("C'est l'assurance que j'avais").words, ["assur"]);
  assert.deepEqual(analysed("Where's Anna's dentist").words, ["anna", "dentist"]);
});

Deno.test("vowel signs, hamzas, dots and long lines make no difference", () => {
  const pairs = [
    ["أين القِطَّة؟", "اين القطه"],
    ["مـــرحبا", "مرحبا"],
    ["שָׁלוֹם", "שלום"],
    ["ज़रूरी", "जरूरी"],
  ] as const;
  for (const [one, other] of pairs) {
    assert.deepEqual(analysed(one).words, analysed(other).words, one);
  }
});

Deno.test("parts of a compound are found, and a compound by its parts", () => {
  const index = indexOf([
    "Die Winterreifen liegen beim Händler",
    "Der Zahnarzt hat seine Praxis in der Gartenstraße",
    "Mein Fahrrad ist in der Werkstatt",
  ]);
  assert.deepEqual(found(index, "Wo sind meine Reifen?"), [0]);
  assert.deepEqual(found(index, "Wo ist die Zahnarztpraxis?"), [1]);
  assert.deepEqual(found(index, "In welchem Garten war ich?"), [1]);
  // Parts that no text knows are not looked for, and the word counts as missing.
  assert.equal(index.score("Wo ist meine Regenjacke?").words.every((score) => score === 0), true);
  assert.ok(index.score("Wo ist meine Regenjacke?").fullMatch > 0);
});

Deno.test("a character that is a word of its own is found, and in other words it is not looked for", () => {
  const index = indexOf(["我家的狗怕打雷", "热狗很好吃", "我在北京工作"]);
  assert.ok(found(index, "狗怕什么？").includes(0));
  assert.equal(found(index, "狗怕什么？")[0], 0);
  const words = [...analysedQuery("北京在哪里").words].map(({ stem }) => stem);
  assert.ok(words.includes("北京") && !words.includes("京"));
});

Deno.test("texts of several languages in one scope are found each in its own", () => {
  const texts = [
    "My dentist is Dr. Miller",
    "Meine Versicherung ist bei der Allianz",
    "Mi hermana canta en un coro",
    "私の猫はもちです",
    "قهوتي بدون سكر",
  ];
  const index = indexOf(texts);
  assert.equal(found(index, "who is my dentist?")[0], 0);
  assert.equal(found(index, "Wo habe ich Versicherungen?")[0], 1);
  assert.equal(found(index, "¿Dónde cantaba mi hermana?")[0], 2);
  assert.equal(found(index, "猫の名前は？")[0], 3);
  assert.equal(found(index, "كيف أشرب القهوة؟")[0], 4);
  // A query too short to tell is looked for in the forms of every language.
  assert.equal(found(index, "Versicherungen")[0], 1);
  assert.equal(found(index, "hermanas")[0], 2);
});

Deno.test("a text of two languages is found in both", () => {
  const index = indexOf([
    "Ich habe das Buch bei 山田さん gelassen",
    "Other things are in the box",
    "Notre médecin dit: drink more water and see a dentist",
  ]);
  assert.equal(found(index, "山田さん")[0], 0);
  assert.equal(found(index, "welches Buch habe ich?")[0], 0);
  assert.equal(found(index, "dentists")[0], 2);
  assert.equal(found(index, "Quel médecin avons-nous ?")[0], 2);
});

Deno.test("scores depend on the texts alone, not on their order", () => {
  const texts = ["Die Reifen sind im Keller", "My tyres", "Los neumáticos están en el garaje"];
  const scoresOf = (all: readonly string[]) =>
    Array.from(indexOf(all).score("Wo sind die Reifen?").words);
  assert.deepEqual(scoresOf(texts.toReversed()).reverse(), scoresOf(texts));
});

Deno.test("endless words of any language take no long", () => {
  for (const word of ["ä", "ение", "ال", "में", "של", "가", "上", "ungen", "ement", "ización"]) {
    const text = `der die und ${word.repeat(60_000 / word.length)} nicht`;
    const began = performance.now();
    indexOf([text]).score(text);
    assert.ok(performance.now() - began < 2_000, word);
  }
});

Deno.test("saved words know the languages of their texts", () => {
  const index = indexOf(["Die Winterreifen liegen beim Händler"]);
  const saved = index.save();
  const taken = new LexicalIndex();
  taken.add();
  taken.take(structuredClone(saved.state), saved.slots);
  assert.deepEqual(found(taken, "Reifen"), [0]);
  assert.deepEqual(found(taken, "Wo sind meine Reifen?"), [0]);
});
