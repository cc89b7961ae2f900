import assert from "node:assert/strict";
import { headerLine, WireHeaders } from "../../src/http1/wire_headers.ts";

Deno.test("headers are what the platform's would be", () => {
  const lines = [
    "Content-Type:application/json",
    "x-a: \t b, c \t",
    "X-B: 1",
    "x-b:2",
    "x-empty:",
    "x-latin: voilà\u00a0",
    "!#$%&'*+-.^_`|~09az: z",
  ];
  const wire = WireHeaders.parse(lines);
  const platform = new Headers(lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1)] as [string, string];
  }));
  assert.deepEqual([...wire].sort(), [...platform].sort());
  for (const [name, value] of platform) {
    assert.equal(wire.get(name), value);
    assert.ok(wire.has(name));
  }
  assert.equal(wire.get("x-c"), null);
  assert.ok(!wire.has("x-c"));
});

Deno.test("what is no header is refused", () => {
  for (
    const line of [
      "",
      "no colon",
      ": no name",
      "name : v",
      " folded: v",
      "a b: v",
      "é: v",
      "a: b\nc: d",
      "a: b\rc",
      "a: \0",
      "a\0: b",
    ]
  ) {
    assert.throws(() => WireHeaders.parse([line]), TypeError, JSON.stringify(line));
  }
  assert.equal(headerLine("a", "b"), "a: b\r\n");
  for (const value of ["b\r\nc: d", "b\n", "\0"]) {
    assert.throws(() => headerLine("a", value), TypeError);
    assert.throws(() => headerLine(value, "a"), TypeError);
  }
});
