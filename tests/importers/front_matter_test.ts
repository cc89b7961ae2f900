import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { frontMatterOf } from "../../src/importers/front_matter.ts";

const read = (lines: string) => {
  const front = frontMatterOf(`---\n${lines}\n---\n`);
  return front && { values: Object.fromEntries(front.values), odd: front.odd };
};

Deno.test("plain and quoted values, lists and inner members are read", () => {
  deepStrictEqual(
    read(
      `a: plain: text # with more
b: "quoted \\"text\\" \\u00e9"
c: 'it''s'
d: [x, "y, z", 'w',]
e:
- one
- "two"
f:
  inner: 1
  other: "2"
g:
h: a long value
  that goes on
# a comment
i-j.k: []`,
    ),
    {
      values: {
        a: "plain: text # with more",
        b: 'quoted "text" é',
        c: "it's",
        d: ["x", "y, z", "w"],
        e: ["one", "two"],
        "f.inner": "1",
        "f.other": "2",
        g: "",
        h: "a long value that goes on",
        "i-j.k": [],
      },
      odd: [],
    },
  );
});

Deno.test("anything else is kept as text and named", () => {
  deepStrictEqual(
    read(
      `a: >-
  folded
  text
b: {x: 1}
c:
  - x: 1
d: [[1]]
e: "open
f: &anchor 1
g: 1
g: 2
h: 'o'pen'
i: ["a" b, c]`,
    ),
    {
      values: {
        a: ">-\n  folded\n  text",
        b: "{x: 1}",
        c: "- x: 1",
        d: "[[1]]",
        e: '"open',
        f: "&anchor 1",
        g: "2",
        h: "'o'pen'",
        i: '["a" b, c]',
      },
      odd: ["a", "b", "c", "d", "e", "f", "g", "h", "i"],
    },
  );
});

Deno.test("there is no front matter without both lines and a member first", () => {
  for (
    const text of ["", "---", "---\na: 1", "--- \ntext\n---\n", " ---\na: 1\n---\n", "a: 1\n---\n"]
  ) {
    deepStrictEqual(frontMatterOf(text), undefined);
  }
  deepStrictEqual(frontMatterOf("---\r\na: 1\r\n---\r\nbody")?.body, "body");
  deepStrictEqual(frontMatterOf("---\n---\nbody")?.bodyLine, 3);
});

Deno.test("whatever stands there is read without failing, and the body is exact", () => {
  const unit = fc.constantFrom(
    "a",
    ":",
    " ",
    "-",
    "\n",
    '"',
    "'",
    "[",
    "]",
    ",",
    "#",
    "\t",
    "{",
    "\\",
  );
  fc.assert(fc.property(fc.string({ unit, maxLength: 60 }), fc.string(), (inner, body) => {
    const front = frontMatterOf(`---\nk: v\n${inner}\n---\n${body}`);
    deepStrictEqual(front?.body.endsWith(body), true);
  }));
});
