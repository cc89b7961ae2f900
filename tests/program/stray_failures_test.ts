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

Deno.test("what the platform throws at itself is noted; what is ours still ends the program", () => {
  const lines: unknown[] = [];
  const logger = { ...silentLogger, error: (...line: unknown[]) => lines.push(line) };
  const platforms = new TypeError("secret text");
  platforms.stack = "TypeError: secret text\n" +
    "    at TLSSocket._start (ext:deno_node/_tls_wrap.js:1:14446)\n" +
    "    at ext:core/01_core.js:432:5";
  const ours = new TypeError("secret text");
  ours.stack = `${platforms.stack}\n    at file:///src/relayer.ts:1:1`;
  const isNoted = (error: unknown) => {
    using _noting = noteStrayFailures(logger);
    return !globalThis.dispatchEvent(new ErrorEvent("error", { error, cancelable: true }));
  };
  // In a test nobody else takes the event.
  const quiet = (event: Event) => event.stopImmediatePropagation();
  assert.equal(isNoted(platforms), true);
  globalThis.addEventListener("error", quiet);
  assert.equal(isNoted(ours), false);
  assert.equal(isNoted("text"), false);
  globalThis.removeEventListener("error", quiet);
  assert.equal(lines.length, 1);
  assert.doesNotMatch(JSON.stringify(lines), /secret/);
});
