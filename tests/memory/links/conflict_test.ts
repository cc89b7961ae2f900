import assert from "node:assert/strict";
import { judgeConflict } from "../../../src/memory/links/conflict.ts";

const NEAR = 0.8;

/** The rule that finds a contradiction. */
const ruleOf = (older: string, newer: string, cosine = NEAR) =>
  judgeConflict(older, newer, cosine)?.by;

Deno.test("another number, name or place of the same thing is a contradiction", () => {
  assert.deepEqual(judgeConflict("My shoe size is 42.", "My shoe size is 43.", NEAR), {
    kind: "conflicts",
    by: "number",
    score: 0.95,
  });
  assert.equal(ruleOf("The train leaves at 9:12.", "The train now leaves at 9:48."), "number");
  assert.equal(ruleOf("The standup is on Monday.", "The standup is on Friday."), "number");
  assert.equal(ruleOf("My boss is Hanna.", "My boss is Teodor."), "value");
  assert.equal(ruleOf("I prefer window seats.", "I prefer aisle seats."), "value");
});

Deno.test("what is no more contradicts what named it, or the same part of a life", () => {
  const change = [
    ["I use Vim.", "I've switched to Helix from Vim."],
    ["I smoke.", "I gave up smoking in January."],
    ["The concert is on Saturday.", "The concert has been cancelled."],
    ["Ben supports the Otters.", "Ben no longer supports the Otters."],
    ["Vivo en Sevilla.", "Ya no vivo en Sevilla."],
  ] as const;
  for (const [older, newer] of change) assert.equal(ruleOf(older, newer), "change", newer);
  assert.equal(ruleOf("I live in Berlin.", "I moved to Lisbon.", 0.5), "field");
});

Deno.test("another person, thing, occasion or side is none", () => {
  const both = [
    ["I live in Berlin.", "My brother moved to Lisbon."],
    ["Table 4 is for the Bauers.", "Table 6 is for the Kochs."],
    ["Mia turns 6 in May.", "Noah turns 4 in May."],
    ["The gas bill rose in March.", "The gas bill rose in May."],
    ["The lift was repaired on Monday.", "The lift was repaired on Sunday."],
    ["I have a meeting on Monday.", "I have a meeting on Thursday."],
    ["My friend is Ada.", "My friend is Ben."],
    ["I like tea.", "I now like coffee, too."],
    ["My left knee hurts.", "My right knee hurts now."],
    ["I no longer drink coffee.", "I no longer eat sweets."],
    ["I live in Lyon.", "I live in Lyon."],
    ["I moved from Porto to Lausanne.", "Since spring I have been living in Lausanne."],
  ] as const;
  for (const [older, newer] of both) assert.equal(ruleOf(older, newer), undefined, newer);
});

Deno.test("what is far, long or written without spaces is left open", () => {
  assert.equal(ruleOf("My shoe size is 42.", "My shoe size is 43.", 0.3), undefined);
  const rest = ` ${"and so on ".repeat(60)}`;
  assert.equal(ruleOf(`My boss is Hanna${rest}`, `My boss is Teodor${rest}`), undefined);
  assert.equal(ruleOf("私は東京に住んでいます。", "私は大阪に住んでいます。"), undefined);
  for (const odd of ["", " ", "!!!", "\ud800", "\u0000"]) {
    assert.equal(ruleOf(odd, "I moved."), undefined);
    assert.equal(ruleOf("I live here.", odd), undefined);
  }
});
