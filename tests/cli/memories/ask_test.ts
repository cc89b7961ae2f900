import assert from "node:assert/strict";
import type { LanguageModel } from "../../../src/interfaces/mod.ts";
import { SignedIn } from "./signed_in.ts";

/** A model that always says the same. */
const saying = (text: string): LanguageModel => ({
  model: "scripted",
  chat: () => Promise.resolve(text),
  [Symbol.asyncDispose]: () => Promise.resolve(),
});

Deno.test("ask prints the answer, and the memories it rests on", async () => {
  const languageModel = saying("You like tea.\nAnd \u001b[2Jcake.");
  await using here = await SignedIn.open({ backends: { languageModel } });
  await here.svc.remember("I like tea\nand \u001b[31mcake");
  const { code, out, err } = await here.run(["ask", "what", "do I like?"]);
  assert.deepEqual([code, err], [0, ""]);
  assert.equal(
    out,
    "You like tea.\nAnd \\u{1b}[2Jcake.\n\n1. I like tea↵and \\u{1b}[31mcake · just now\n",
  );
  const coloured = await here.run(["ask", "tea"], { isTerminal: true });
  assert(coloured.out.includes("\n\n\u001b[2m1. I like tea"));
  const machine = await here.json(["ask", "tea", "--limit", "3"]);
  assert.deepEqual([machine.answer_mode, machine.memories.length], ["llm", 1]);
});

Deno.test("ask says that there is no language model, and shows what fits", async () => {
  await using here = await SignedIn.open();
  await here.svc.remember("I like tea");
  const { out } = await here.run(["ask", "tea"]);
  assert.match(
    out,
    /^The relayer has no language model .* fit best:\n\n1\. I like tea\n {3}just now/,
  );
  assert.equal(
    (await here.run(["ask", "tea", "--ns", "wrok"])).out,
    'There are no memories in "wrok". Those you have: svc-mcp namespaces\n',
  );
  assert.equal((await here.run(["ask"])).code, 2);
});

Deno.test("analyze saves each fact of a text, and shows them", async () => {
  const facts = {
    facts: [{ text: "Ada is allergic to nuts \u001b[2J" }, { text: "Ada lives in Oslo" }],
  };
  await using here = await SignedIn.open({
    backends: { languageModel: saying(JSON.stringify(facts)) },
  });
  const text = "Ada is allergic to nuts. Ada lives in Oslo.";
  const { code, out, err } = await here.run(["analyze", "-", "--ns", "people"], {
    stdin: new Blob([text]).stream(),
  });
  assert.deepEqual([code, err], [0, ""]);
  assert.match(out, /^1\. Ada .*\n2\. Ada .*\n2 facts saved in people\.\n$/);
  assert(!out.includes("\u001b"));
  const listed = await here.json(["list", "--ns", "people"]);
  assert.equal(listed.memories.length, 2);
});

Deno.test("analyze without a language model says so; without facts it saves nothing", async () => {
  await using here = await SignedIn.open();
  const some = await here.run(["analyze", "I am allergic to peanuts."]);
  assert.match(some.out, /^1\. .*peanuts.*\n1 fact saved\.\n$/);
  assert.match(some.err, /no language model: facts are found by simple rules only/);
  const none = await here.run(["analyze", "?"]);
  assert.equal(none.out, "No facts were found in it: nothing was saved.\n");
  const long = await here.run(["analyze", "-"], {
    stdin: new Blob(["a".repeat(65_537)]).stream(),
  });
  assert.deepEqual([long.code, long.err], [2, "The text is longer than 64 KiB.\n"]);
  assert.equal((await here.run(["analyze", "x", "--preview"])).code, 2);
});
