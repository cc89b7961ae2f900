import { deepStrictEqual } from "node:assert/strict";
import { moduleGraph, needsOf } from "./module_graph.ts";
import { inHome } from "./program.ts";

const SOURCE = `
import { a } from "./a.ts";
import type { B } from "./b.ts";
export { c } from "npm-package";
export type { D } from "../other/d.ts";
export * from "./e.ts";
export type * from "./f.ts";
export const g = 1;
const later = await import("./h.ts");
const computed = await import("./i" + ".ts");
type J = import("./j.ts").J;
`;

Deno.test("what a module imports is read from its source", async () => {
  await inHome(async (home) => {
    const root = new URL(`file://${home}/`);
    await Deno.mkdir(`${home}/src`);
    await Deno.writeTextFile(`${home}/src/x.ts`, SOURCE);
    const graph = await moduleGraph(root, ["src/x.ts"]);
    deepStrictEqual(graph.get("src/x.ts"), [
      { to: "src/a.ts", own: true, needed: true },
      { to: "src/b.ts", own: true, needed: false },
      { to: "npm-package", own: false, needed: true },
      { to: "other/d.ts", own: true, needed: false },
      { to: "src/e.ts", own: true, needed: true },
      { to: "src/f.ts", own: true, needed: false },
      { to: "src/h.ts", own: true, needed: true },
      { to: "src/j.ts", own: true, needed: false },
    ]);
    deepStrictEqual([...needsOf(graph, "src/x.ts")], [
      "src/x.ts",
      "src/a.ts",
      "npm-package",
      "src/e.ts",
      "src/h.ts",
    ]);
  });
});
