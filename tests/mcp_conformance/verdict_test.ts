import assert from "node:assert/strict";
import { type Check, judge, parseBaseline, readScenarios } from "./verdict.ts";

const good: Check = { id: "a", status: "SUCCESS" };
const bad: Check = { id: "b", status: "FAILURE", errorMessage: "No such tool" };

Deno.test("warnings and failures outside of the baseline are complaints", () => {
  const scenarios = [
    { name: "ping", checks: [good] },
    { name: "tools", checks: [good, bad, { id: "c", status: "WARNING" } as const] },
    { name: "tasks", checks: [{ id: "d", status: "SKIPPED" } as const] },
  ];
  assert.deepEqual(judge(scenarios, []), {
    passed: 1,
    failed: 1,
    expected: 0,
    skipped: 1,
    complaints: ["tools:b: No such tool", "tools:c: no message"],
  });
  const { expected, failed, complaints } = judge(scenarios, ["tools"]);
  assert.deepEqual([expected, failed, complaints], [1, 0, []]);
});

Deno.test("an entry for one check covers no other, and one that passes is stale", () => {
  const scenarios = [{ name: "tools", checks: [bad, { ...bad, id: "c" }] }];
  assert.deepEqual(judge(scenarios, ["tools:b", "ping", "tools:d"]), {
    passed: 0,
    failed: 1,
    expected: 0,
    skipped: 0,
    complaints: [
      "tools:c: No such tool",
      "ping: is in the baseline, but does not fail",
      "tools:d: is in the baseline, but does not fail",
    ],
  });
});

Deno.test("baselines are lists with reasons, results are folders named by scenario", async () => {
  const text = "# why\nserver:\n  # because\n  - tools-list\n  - caching:sep-1-hints # so\n";
  assert.deepEqual(parseBaseline(text), ["tools-list", "caching:sep-1-hints"]);
  const folder = await Deno.makeTempDir();
  try {
    const results = `${folder}/server-json-schema-2020-12-2026-11-21T07-10-05-220Z`;
    await Deno.mkdir(results);
    await Deno.writeTextFile(`${results}/checks.json`, JSON.stringify([good]));
    assert.deepEqual(await readScenarios(folder), [{
      name: "json-schema-2020-12",
      checks: [good],
    }]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
