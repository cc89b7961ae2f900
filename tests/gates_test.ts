import { deepStrictEqual } from "node:assert/strict";
import { gates } from "../build/gates/lint_plugin.ts";

const ROOT = new URL("../", import.meta.url);

function messages(
  file: string,
  source: string,
  allowed: Parameters<typeof gates>[0] = { lines: [], parameters: [] },
): string[] {
  const { pathname } = new URL(file, ROOT);
  return Deno.lint.runPlugin(gates(allowed), pathname, source).map(({ message }) => message);
}

const body = (lines: number): string => "\n".repeat(lines - 1);

Deno.test("a function of the product has at most 60 lines", () => {
  deepStrictEqual(messages("src/a.ts", `function f() {${body(60)}}`), []);
  deepStrictEqual(messages("src/a.ts", `function f() {${body(61)}}`), [
    "src/a.ts f has 61 lines, more than 60",
  ]);
  deepStrictEqual(messages("cli/a.ts", `class A { b() {${body(61)}} }`), [
    "cli/a.ts A.b has 61 lines, more than 60",
  ]);
  deepStrictEqual(messages("web/src/a.tsx", `export const A = () => <p>${body(61)}</p>;`), [
    "web/src/a.tsx A has 61 lines, more than 60",
  ]);
  deepStrictEqual(messages("tests/a.ts", `function f() {${body(61)}}`), []);
});

Deno.test("a function of the product has at most 5 parameters", () => {
  deepStrictEqual(messages("main.ts", "const f = (a, b, c, d, e) => a;"), []);
  deepStrictEqual(messages("main.ts", "const f = (a, b, c, d, e, g) => a;"), [
    "main.ts f has 6 parameters, more than 5",
  ]);
});

Deno.test("a function on the list is let off until it keeps the rule", () => {
  const allowed = { lines: ["src/a.ts f"], parameters: [] };
  deepStrictEqual(messages("src/a.ts", `function f() {${body(61)}}`, allowed), []);
  deepStrictEqual(messages("src/b.ts", `function f() {${body(61)}}`, allowed), [
    "src/b.ts f has 61 lines, more than 60",
  ]);
  deepStrictEqual(messages("src/a.ts", `function f() {${body(60)}}`, allowed), [
    "src/a.ts f keeps the rule: take it off the list",
  ]);
});
