import assert from "node:assert/strict";
import { commitsUntilOptimized } from "../../../plugins/lancedb/flusher.ts";

Deno.test("a large table waits for more small commits before it is written anew", () => {
  for (const rows of [0, 2_000, 73_727]) assert.equal(commitsUntilOptimized(8, rows), 8);
  assert.equal(commitsUntilOptimized(8, 73_728), 9);
  assert.equal(commitsUntilOptimized(8, 131_072), 16);
  for (const rows of [262_144, 10_000_000]) assert.equal(commitsUntilOptimized(8, rows), 32);
  // Whoever asks for more waits for more.
  assert.equal(commitsUntilOptimized(100, 10_000_000), 100);
});
