import assert from "node:assert/strict";
import { stopSignals } from "../../src/program/process_events.ts";

Deno.test("a program listens to the signals that its system has", () => {
  assert.deepEqual(stopSignals("linux"), ["SIGINT", "SIGTERM"]);
  assert.deepEqual(stopSignals("darwin"), ["SIGINT", "SIGTERM"]);
  // Listening to SIGTERM fails there.
  assert.deepEqual(stopSignals("windows"), ["SIGINT", "SIGBREAK"]);
});
