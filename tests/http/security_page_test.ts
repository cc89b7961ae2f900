import assert from "node:assert/strict";
import { routeNames, rowOf } from "../../src/wire/routes.ts";
import type { RouteName } from "../../src/wire/route_types.ts";
import { TOOLS } from "../../src/wire/table/tools.ts";

const PAGE = await Deno.readTextFile(new URL("../../docs/security.md", import.meta.url));

/** Rows of the table below a heading, by their first cells. */
function rows(heading: string): (readonly string[])[] {
  const [, section = ""] = PAGE.split(`\n## ${heading}\n`);
  const lines = section.split("\n## ")[0]!.split("\n").filter((line) => line.startsWith("|"));
  return lines.slice(2).map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
}

/** Names between backquotes. */
const names = (cell = ""): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);

function needsOf(name: RouteName): string {
  const { access, permissions } = rowOf(name);
  if (permissions !== undefined) return permissions.map((one) => `\`${one}\``).join(", ");
  if (access === "signed" || access === "mcp") return "any key";
  return access === "owner" && name !== "POST /accounts/challenge"
    ? "owner's signature"
    : "nothing";
}

Deno.test("the security page has every route once, with what it needs", () => {
  const listed = rows("Routes").map(([route, needs]) => [names(route).join(), needs]);
  const known = routeNames().map((name) => [name, needsOf(name)]);
  assert.deepEqual(listed.sort(), known.sort());
  for (const [route, , depends = ""] of rows("Routes")) assert.notEqual(depends, "", route);
});

Deno.test("the security page has every tool once, with what the routes it calls need", () => {
  const listed = rows("Tools of MCP");
  assert.deepEqual(listed.map(([tool]) => names(tool).join()), Object.keys(TOOLS));
  for (const [tool = "", needs, calls] of listed) {
    const routes = names(calls) as RouteName[];
    const all = routes.flatMap((route) => rowOf(route).permissions ?? []);
    assert.deepEqual(names(needs), [...new Set(all)].sort(), tool);
  }
});
