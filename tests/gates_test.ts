import { deepStrictEqual } from "node:assert/strict";
import gates from "../build/function_gates.ts";

const ROOT = new URL("../", import.meta.url);

function messages(file: string, source: string): string[] {
  const { pathname } = new URL(file, ROOT);
  return Deno.lint.runPlugin(gates, pathname, source).map(({ message }) => message);
}

const body = (lines: number): string => "\n".repeat(lines - 1);

Deno.test("a function of the product has at most 60 lines", () => {
  deepStrictEqual(messages("src/a.ts", `function f() {${body(60)}}`), []);
  deepStrictEqual(messages("src/a.ts", `function f() {${body(61)}}`), [
    "This function has 61 lines, more than 60",
  ]);
  deepStrictEqual(messages("cli/a.ts", `class A { b() {${body(61)}} }`), [
    "This function has 61 lines, more than 60",
  ]);
  deepStrictEqual(messages("web/src/a.tsx", `export const A = () => <p>${body(61)}</p>;`), [
    "This function has 61 lines, more than 60",
  ]);
  deepStrictEqual(messages("tests/a.ts", `function f() {${body(61)}}`), []);
});

Deno.test("a function of the product has at most 5 parameters", () => {
  deepStrictEqual(messages("main.ts", "const f = (a, b, c, d, e) => a;"), []);
  deepStrictEqual(messages("main.ts", "const f = (a, b, c, d, e, g) => a;"), [
    "This function has 6 parameters, more than 5",
  ]);
});

/** Where a time is what is tested, or a moment taken at random. */
const SLEEPERS = [
  "tests/crash/run.ts",
  "tests/e2e/flood_test.ts",
  "tests/e2e/full_disk_test.ts",
  "tests/e2e/mcp_keys_test.ts",
  "tests/faults/fault_proxy.ts",
  "tests/faults/run.ts",
  "tests/fuzz/run.ts",
  "tests/http1/slow_clients_slow_test.ts",
  "tests/live/journey.ts",
  "tests/mcp/conformance_tasks.ts",
  "tests/oauth/renewal_test.ts",
  "tests/within.ts",
];

async function* testSources(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(new URL(folder, ROOT))) {
    if (isDirectory) yield* testSources(`${folder}${name}/`);
    else if (name.endsWith(".ts")) yield `${folder}${name}`;
  }
}

Deno.test("no test sleeps until something has probably happened", async () => {
  const sleepers: string[] = [];
  for await (const file of testSources("tests/")) {
    const source = await Deno.readTextFile(new URL(file, ROOT));
    if (/setTimeout\((resolve|r)\b/.test(source)) sleepers.push(file);
  }
  deepStrictEqual(sleepers.sort(), SLEEPERS);
});
