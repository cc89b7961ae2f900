import assert from "node:assert/strict";
import { IS_ON_POSTGRES } from "../test_store.ts";
import { runLoop } from "./run.ts";

Deno.test("nothing accepted is lost or doubled by crashes under load", async () => {
  const { findings, problems, summary } = await runLoop({
    clients: 6,
    // Where relayers share a store, what a killed one had is another's after 2.5 s.
    ...(IS_ON_POSTGRES
      ? { kills: 6, accepts: 600, pause: [3000, 4000] }
      : { kills: 12, accepts: 1200, pause: [100, 700] }),
    env: { SVC_EMBEDDER: "memory" },
  });
  await Deno.stderr.write(new TextEncoder().encode(`${summary}\n`));
  assert.deepEqual([...new Set(problems)], []);
  const nothing = Object.keys(findings).map((name) => [name, 0]);
  assert.deepEqual(findings, Object.fromEntries(nothing), summary);
});
