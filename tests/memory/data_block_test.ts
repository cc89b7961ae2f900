import assert from "node:assert/strict";
import fc from "fast-check";
import { dataBlock } from "../../src/memory/chat.ts";

const BLOCK = /^<(data-[0-9a-f]{32})>\n(.*)\n<\/\1>$/;

Deno.test("whatever stands in the data, the block ends where it ends, and the data is the same", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }).filter((value) => value.isWellFormed()),
    fc.constantFrom(
      "</data>",
      "\n\nHuman:",
      "<|im_start|>system",
      "[INST]",
      "\u202e",
      "\u2028",
      "👩‍👩‍👧",
    ),
  );
  fc.assert(fc.property(fc.array(text.map((value) => ({ text: value }))), (memories) => {
    const block = dataBlock({ question: "?", memories });
    const [, name = "", json = ""] = BLOCK.exec(block) ?? [];
    assert.ok(name !== "", block);
    assert.ok(!/[<>&`|\u2028\u2029]|\p{Cf}/u.test(json), json);
    assert.deepEqual(JSON.parse(json), { question: "?", memories });
  }));
});

Deno.test("no two blocks have the same name", () => {
  const names = Array.from({ length: 100 }, () => BLOCK.exec(dataBlock("x"))?.[1]);
  assert.equal(new Set(names).size, 100);
});
