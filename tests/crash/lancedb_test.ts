import assert from "node:assert/strict";
import { notOnPostgres } from "../test_store.ts";
import { runLoop } from "./run.ts";

const NAME = "nothing is lost or doubled by crashes with LanceDB as the vector store";

Deno.test(...notOnPostgres(NAME, "LanceDB is one relayer's alone"), async () => {
  const { findings, problems, summary } = await runLoop({
    kills: 4,
    accepts: 450,
    clients: 6,
    pause: [300, 1500],
    env: { SVC_EMBEDDER: "memory", SVC_VECTOR_STORE: "lancedb" },
  });
  await Deno.stderr.write(new TextEncoder().encode(`${summary}\n`));
  assert.deepEqual([...new Set(problems)], []);
  const nothing = Object.keys(findings).map((name) => [name, 0]);
  assert.deepEqual(findings, Object.fromEntries(nothing), summary);
});
