import assert from "node:assert/strict";
import { LexicalIndex } from "../../src/index/words/lexical_index.ts";
import { folded, words } from "../../src/index/words/words.ts";
import { uniform } from "../../bench/statistics.ts";

const WORDS = "tea coffee train piano garden winter doctor bicycle window letter lake anna".split(
  " ",
);

function sentence(random: () => number): string {
  const length = 1 + Math.floor(random() * 12);
  return Array.from({ length }, () => WORDS[Math.floor(random() ** 2 * WORDS.length)]!).join(" ");
}

/** An index of these texts, slot by slot. */
function indexOf(texts: readonly (string | undefined)[]): LexicalIndex {
  const index = new LexicalIndex();
  texts.forEach((text, slot) => {
    index.add();
    if (text !== undefined) index.set(slot, text);
  });
  return index;
}

function scoresOf(index: LexicalIndex, query: string): { words: number[]; runs: number[] } {
  const scores = index.score(query);
  return { words: [...scores.words], runs: [...scores.runs] };
}

/** BM25 as written down, over all texts. */
function bm25(texts: readonly string[], query: string): number[] {
  const all = texts.map((text) => words(folded(text)));
  const average = all.reduce((sum, list) => sum + list.length, 0) / all.length;
  return all.map((list) =>
    [...new Set(words(folded(query)))].reduce((sum, word) => {
      const having = all.filter((other) => other.includes(word)).length;
      const frequency = list.filter((other) => other === word).length;
      const idf = Math.log(1 + (all.length - having + 0.5) / (having + 0.5));
      return sum +
        idf * frequency * 1.9 / (frequency + 0.9 * (0.6 + 0.4 * list.length / average));
    }, 0)
  );
}

function assertClose(actual: readonly number[], expected: readonly number[]): void {
  assert.equal(actual.length, expected.length);
  actual.forEach((value, i) => assert.ok(Math.abs(value - expected[i]!) < 1e-4, `${i}: ${value}`));
}

Deno.test("words are scored by BM25 with the statistics of the scope", () => {
  const random = uniform(3);
  const texts = Array.from({ length: 300 }, () => sentence(random));
  const index = indexOf(texts);
  for (const query of ["tea", "anna plays the piano", "winter winter garden", "nothing known"]) {
    const scores = index.score(query);
    assertClose([...scores.words], bm25(texts, query));
  }
});

Deno.test("single characters are found and do not make a text longer", () => {
  const texts = ["我的猫喜欢喝水", "北京的公寓", "My cat drinks water", "猫 tea"];
  const index = indexOf(texts);
  assertClose([...index.score("喜欢公寓").words], bm25(texts, "喜欢公寓"));
  assertClose([...index.score("cat").words], bm25(texts, "cat"));
  assert.deepEqual([...index.score("猫").words].map((score) => score > 0), [
    true,
    false,
    false,
    true,
  ]);
});

Deno.test("letter runs find other forms of a word and misspellings", () => {
  const index = indexOf([
    "My dog is called Biscuit",
    "I play the cello",
    "고양이가 신장약을 먹는다",
  ]);
  const best = (query: string): number => {
    const { runs } = index.score(query);
    return runs.indexOf(Math.max(...runs));
  };
  assert.equal(best("biscit"), 0);
  assert.equal(best("cellist"), 1);
  assert.equal(best("고양이 건강"), 2);
  const { runs } = index.score("My dog is called Biscuit");
  assert.ok(runs[0]! > 0.9 && runs[0]! < 1.2 && runs[1]! < 0.2);
});

Deno.test("a text that is missing scores nothing and is not counted", () => {
  const index = indexOf(["tea", undefined, "coffee"]);
  assert.equal(index.size, 3);
  assert.equal(index.texts, 2);
  assert.deepEqual([0, 1, 2].map((slot) => index.has(slot)), [true, false, true]);
  const { words: found } = scoresOf(index, "tea");
  assertClose(found, [bm25(["tea", "coffee"], "tea")[0]!, 0, 0]);
});

Deno.test("far more texts may be missing than are there", () => {
  const index = indexOf(["tea"]);
  const count = 200_000;
  for (let i = 0; i < count; i++) index.add();
  const { words, runs } = index.score("tea");
  assert.deepEqual([words.length, runs.length], [count + 1, count + 1]);
  assert.ok(words[0]! > 0 && runs[0]! > 0);
  assert.ok(words.every((score, slot) => slot === 0 || score === 0));
  assert.ok(runs.every((score, slot) => slot === 0 || score === 0));
});

Deno.test("scores depend on the texts alone, whatever was removed and replaced before", () => {
  const random = uniform(11);
  const index = new LexicalIndex();
  let texts: (string | undefined)[] = [];
  for (let step = 0; step < 3000; step++) {
    const slot = Math.floor(random() * texts.length);
    const dice = random();
    if (dice < 0.45 || texts.length === 0) {
      index.add();
      texts.push(undefined);
      if (random() < 0.9) index.set(texts.length - 1, texts[texts.length - 1] = sentence(random));
    } else if (dice < 0.65) {
      index.clear(slot);
      index.set(slot, texts[slot] = sentence(random));
    } else {
      index.remove(slot);
      texts[slot] = texts.at(-1);
      texts = texts.slice(0, -1);
    }
    if (step % 250 !== 0) continue;
    const fresh = indexOf(texts);
    assert.equal(index.texts, fresh.texts);
    for (const query of ["tea with anna", "the lake in winter"]) {
      assert.deepEqual(scoresOf(index, query), scoresOf(fresh, query));
    }
  }
});

Deno.test("the beginning of a very long text is indexed", () => {
  const index = indexOf(["filler ".repeat(20_000) + "needle", "other " + "word ".repeat(100)]);
  assert.ok(index.score("filler").words[0]! > 0);
  assert.equal(index.score("needle").words[0], 0);
  assert.ok(index.bytes < 2 ** 20);
});

Deno.test("a text is wholly like itself, however often its runs occur", () => {
  for (const count of [100, 255, 256, 2000]) {
    const index = new LexicalIndex();
    const text = "a".repeat(count);
    index.add();
    index.set(0, text);
    assert.ok(Math.abs(index.score(text).runs[0]! - 1) < 1e-5, `${count}`);
  }
});
