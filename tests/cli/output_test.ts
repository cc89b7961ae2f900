import assert from "node:assert/strict";
import { columns, paintFor, when } from "../../cli/output.ts";

Deno.test("colours are for terminals that have them, and for nobody who declines", () => {
  const dim = (io: Parameters<typeof paintFor>[0]) => paintFor(io).dim("x");
  assert.equal(dim({ isTerminal: true, env: {} }), "\u001b[2mx\u001b[22m");
  assert.equal(dim({ isTerminal: true, env: { NO_COLOR: "" } }), "\u001b[2mx\u001b[22m");
  assert.equal(dim({ isTerminal: true, env: { NO_COLOR: "1" } }), "x");
  assert.equal(dim({ isTerminal: true, env: { TERM: "dumb" } }), "x");
  assert.equal(dim({ env: {} }), "x");
});

Deno.test("columns are as wide as what stands in them, and end with their last word", () => {
  const paint = paintFor({ isTerminal: true, env: {} });
  const rows = [["a", { dim: "bb" }, ""], ["aaa", "b\nb", "c"], ["", "", ""]];
  assert.equal(columns(rows, paint), "a    \u001b[2mbb\u001b[22m\naaa  b↵b  c\n\n");
  assert.equal(columns([], paint), "");
});

Deno.test("a time that is none is shown as it is", () => {
  assert.equal(when(new Date().toISOString()), "just now");
  assert.equal(when("soon\u001b[2J"), "soon\\u{1b}[2J");
});
