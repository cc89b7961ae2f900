import assert from "node:assert/strict";
import { editJson, jsonChange } from "../../cli/install/json_config.ts";
import { diffLines } from "../../cli/install/diff.ts";
import { verifies } from "../requirements.ts";

const ENTRY = { command: "x", args: ["y"] };
const edit = (text: string): string => editJson(text, "servers", ENTRY, true).text;

/** Texts before and after. */
const CASES: readonly (readonly [name: string, before: string, after: string])[] = [
  [
    "nothing",
    "",
    '{\n  "servers": {\n    "svc": {\n      "command": "x",\n      "args": [\n        "y"\n      ]\n    }\n  }\n}\n',
  ],
  [
    "tabs, comments, a trailing comma",
    '{\n\t// mine\n\t"servers": {\n\t\t"a": {"k": 1}, // keep\n\t\t// and this\n\t},\n}\n',
    '{\n\t// mine\n\t"servers": {\n\t\t"a": {"k": 1}, // keep\n\t\t"svc": {\n\t\t\t"command": "x",\n' +
    '\t\t\t"args": [\n\t\t\t\t"y"\n\t\t\t]\n\t\t},\n\t\t// and this\n\t},\n}\n',
  ],
  [
    "no trailing comma, but a comment",
    '{\n  "servers": {\n    "a": {"k": 1} // keep\n  }\n}',
    '{\n  "servers": {\n    "a": {"k": 1}, // keep\n    "svc": {\n      "command": "x",\n' +
    '      "args": [\n        "y"\n      ]\n    }\n  }\n}',
  ],
  [
    "an empty object with a comment",
    '{\n  "servers": { // none yet\n  }\n}',
    '{\n  "servers": {\n    "svc": {\n      "command": "x",\n      "args": [\n        "y"\n' +
    "      ]\n    } // none yet\n  }\n}",
  ],
  [
    "one line",
    '{"servers":{"a":{}},"b":1}',
    '{"servers":{"a":{}, "svc": {"command":"x","args":["y"]}},"b":1}',
  ],
  [
    "an older entry",
    '{\n  "servers": {\n    "svc": {"url": "u"},\n    "a": {}\n  }\n}',
    '{\n  "servers": {\n    "svc": {\n      "command": "x",\n      "args": [\n        "y"\n' +
    '      ]\n    },\n    "a": {}\n  }\n}',
  ],
  [
    "lines of Windows",
    '\ufeff{\r\n    "b": 1\r\n}\r\n',
    '\ufeff{\r\n    "b": 1,\r\n    "servers": {\r\n        "svc": {\r\n            "command": "x",\r\n' +
    '            "args": [\r\n                "y"\r\n            ]\r\n        }\r\n    }\r\n}\r\n',
  ],
];

Deno.test("only the entry is added to a JSON file", () => {
  verifies("13.4-4");
  for (const [name, before, after] of CASES) {
    assert.equal(edit(before), after, name);
    assert.deepEqual(editJson(after, "servers", ENTRY, true), { text: after, changed: false });
  }
});

Deno.test("the diff leaves out a neighbour, also on a line of the entry", () => {
  verifies("13.4-4");
  const shownOf = (before: string): string =>
    diffLines(jsonChange(before, edit(before), "servers"));
  const comma = '{\n  "servers": {\n    "a": {"token": "secret"} // its key: secret\n  }\n}\n';
  for (
    const [before, wanted] of [
      [comma, /^@@ line 4 @@\n\+ {5}"svc": \{\n/],
      ['{\n  "servers": {"a": {"token": "secret"}}\n}\n', /^@@ line 2 @@\n\+ …"svc": \{.*\}…\n$/],
      [
        '{"servers": {"svc": {"url": "old"}, "a": "secret"}}',
        /^@@ line 1 @@\n- …"svc".*old"\}…\n\+ …/,
      ],
      ['{\n"servers": {\n  "a": "secret"}}', /^@@ line 4 @@\n\+ {3}"svc": \{\n[^]*\+ {3}\}…\n$/],
      ['{"a": "secret"}', /^@@ line 1 @@\n\+ …"servers": \{.*\}…\n$/],
      ['{\n  "a": "secret"\n}', /^@@ line 3 @@\n\+ {3}"servers": \{\n/],
      ["", /^@@ line 1 @@\n\+ \{\n\+ {3}"servers": \{\n[^]*\+ \}\n$/],
    ] as const
  ) {
    const shown = shownOf(before);
    assert(!shown.includes("secret"), shown);
    assert.match(shown, wanted);
  }
});
