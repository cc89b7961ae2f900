import assert from "node:assert/strict";
import { silentLogger } from "../../src/log.ts";
import { noteStrayFailures } from "../../src/program/process_events.ts";
import { turns } from "../within.ts";

Deno.test("a failure that nobody waits for is noted, without what it says, and ends nothing", async () => {
  const lines: unknown[] = [];
  const logger = { ...silentLogger, error: (...line: unknown[]) => lines.push(line) };
  using _noting = noteStrayFailures(logger);
  void Promise.reject(new TypeError("secret text"));
  await turns();
  assert.equal(lines.length, 1);
  assert.match(JSON.stringify(lines), /stray failure.*TypeError/);
  assert.doesNotMatch(JSON.stringify(lines), /secret/);
});
