import assert from "node:assert/strict";
import { runFuzz } from "./run.ts";

Deno.test("no route, and no transport of MCP, fails over hostile requests", async () => {
  // The seed is fixed: a test that fails once fails always.
  const { faults, answers } = await runFuzz({ seed: 7, requests: 3000, clients: 4 });
  assert.deepEqual(faults, []);
  assert.ok(answers.size > 100, `${answers.size} kinds of answers`);
});
