import assert from "node:assert/strict";
import * as packaged from "../../build/stemmer_exports.ts";
import * as bundled from "../../src/index/words/stemmers.js";
import { STOP_WORDS_OF } from "../../src/index/words/stop_words.ts";

Deno.test("the bundled stemmers are those of the package", () => {
  assert.deepEqual(Object.keys(bundled).sort(), Object.keys(packaged).sort());
  const words = Object.values(STOP_WORDS_OF).join(" ").split(" ")
    .flatMap((word) => [word, `${word}ungen`, `${word}ación`, `${word}ements`, `${word}ами`]);
  for (const [language, stem] of Object.entries(packaged)) {
    const own = bundled[language as keyof typeof bundled];
    for (const word of words) assert.equal(own(word), stem(word), `${language} ${word}`);
  }
});
