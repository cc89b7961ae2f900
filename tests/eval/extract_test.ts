import assert from "node:assert/strict";
import { contentWords, share } from "../../eval/content_words.ts";
import { labelledTexts, measure } from "../../eval/extract.ts";

Deno.test("a label is held by its content words, whatever their form", () => {
  assert.deepEqual([...contentWords("Our cats are raced in Ireland")], ["cat", "rac", "ireland"]);
  assert.equal(share("The user does not eat pork", "user: I don't eat pork"), 1);
  assert.equal(share("Finn hates penalties", "Finn: my knee is bad"), 1 / 3);
});

Deno.test("the rules cover four labels of five at 2.5 facts a text, on texts the rules never saw too", async () => {
  const heldOut = await labelledTexts("held_out");
  const fresh = await labelledTexts("fresh");
  const all = [...await labelledTexts("dev"), ...heldOut, ...fresh];
  assert.ok(all.length >= 60);
  assert.equal(new Set(all.map(({ text }) => text)).size, all.length);
  for (const texts of [all, heldOut]) {
    const { coverage, factsPerText } = measure(texts);
    assert.ok(coverage >= 0.8, `coverage ${coverage}`);
    assert.ok(factsPerText <= 2.5, `${factsPerText} facts a text`);
  }
  // Denser texts: 2.7 labels each.
  assert.ok(measure(fresh).coverage >= 0.8);
});

Deno.test("the texts in seven styles are others than the older ones", async () => {
  const styles = [...await labelledTexts("styles_dev"), ...await labelledTexts("styles_held_out")];
  const older = [...await labelledTexts("dev"), ...await labelledTexts("held_out")];
  const all = [...styles, ...older, ...await labelledTexts("fresh")];
  assert.equal(styles.length, 200);
  assert.equal(new Set(styles.map(({ kind }) => kind)).size, 7);
  assert.equal(new Set(all.map(({ text }) => text)).size, all.length);
});

Deno.test("the rules cover 0.88 of the labels of held-out texts in seven styles", async () => {
  const { coverage, factsPerText } = measure(await labelledTexts("styles_held_out"));
  assert.ok(coverage >= 0.88, `coverage ${coverage}`);
  assert.ok(factsPerText <= 2.2, `${factsPerText} facts a text`);
});
