import assert from "node:assert/strict";
import { runLoop } from "./run.ts";

Deno.test("nothing accepted is lost or doubled by crashes under load", async () => {
  const { findings, problems, summary } = await runLoop({
    kills: 12,
    accepts: 1200,
    clients: 6,
    pause: [100, 700],
    env: { SVC_EMBEDDER: "memory" },
  });
  await Deno.stderr.write(new TextEncoder().encode(`${summary}\n`));
  assert.deepEqual([...new Set(problems)], []);
  const nothing = Object.keys(findings).map((name) => [name, 0]);
  assert.deepEqual(findings, Object.fromEntries(nothing), summary);
});
