import assert from "node:assert/strict";
import { isSame, labelledPairs, measure } from "../../../eval/duplicates.ts";

Deno.test("another wording of a statement is the same, another statement never", async () => {
  const { same, recognised, different, confused } = measure(await labelledPairs());
  assert.ok(same >= 30 && different >= 40);
  assert.equal(confused, 0);
  assert.ok(recognised >= 12, `${recognised} of ${same}`);
});

Deno.test("letters, marks and endings do not matter; numbers, negations and order do", () => {
  const same = [
    ["I like tea.", "i LIKE tea!"],
    ["We cannot swim", "We can't swim."],
    ["user: I don’t eat pork.", "I do not eat pork"],
    ["Pavel has the second key", "The second key: Pavel"],
    ["母の誕生日は五月三日です。", "母の誕生日は五月三日です"],
  ];
  for (const [a = "", b = ""] of same) {
    assert.ok(isSame(a, b) && isSame(b, a), `${a} | ${b}`);
  }
  const different = [
    ["I like tea.", "You like tea."],
    ["He is vegetarian.", "She is vegetarian."],
    ["I work in Graz.", "I worked in Graz."],
    ["The rent is 620.", "The rent is 62.0."],
    ["My brother hates my sister.", "My sister hates my brother."],
    ["母の誕生日は五月三日です。", "母の誕生日は五月四日です。"],
    ["I have a cat.", "I had a cat."],
    ["I program in C.", "I program in C++."],
    ["I program in C#.", "I program in C++."],
    ["It has -5 degrees.", "It has 5 degrees."],
    ["The fee is 5 €.", "The fee is 5 %."],
    ["I like 🍎", "I like 🍌"],
    ["My sister is called Anne.", "My sister is called Ann."],
    ["I met Dan.", "I met Dane."],
    ["I love James.", "I love jam."],
    ["The key is in the box.", "The key is on the box."],
    ["!!!", "???"],
    ["the", "a"],
  ];
  for (const [a = "", b = ""] of different) assert.ok(!isSame(a, b), `${a} | ${b}`);
});

Deno.test("long statements are the same when they are equal, and turned ones up to 64 words", () => {
  const words = (count: number) => Array.from({ length: count }, (_, i) => `word${i}`);
  const turned = (count: number) => {
    const [first = "", ...others] = words(count);
    return isSame(words(count).join(" "), [...others, first].join(" "));
  };
  assert.deepEqual([turned(64), turned(65)], [true, false]);
  assert.ok(isSame(words(65).join(" "), words(65).join(", ")));
  const long = (length: number) => "tea ".repeat(length / 4).trimEnd().padEnd(length, ".");
  assert.ok(isSame(long(2000), long(2000).toUpperCase()));
  assert.ok(!isSame(long(2004), long(2004).toUpperCase()));
  assert.ok(isSame(long(2004), long(2004)));
});
