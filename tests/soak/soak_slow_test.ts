import assert from "node:assert/strict";
import { runSoak } from "./run.ts";

Deno.test("a steady load fails nowhere, and leaves no descriptors open", async () => {
  const { requests, failures, samples, verdicts } = await runSoak({
    seconds: 12,
    memories: 100,
    rate: 20,
    every: 1,
    signal: new AbortController().signal,
    env: { SVC_EMBEDDER: "memory" },
  });
  assert.deepEqual([...failures], []);
  assert.ok(requests >= 100 && samples.length >= 5, `${requests} and ${samples.length}`);
  const [descriptors] = verdicts.filter(({ name }) => name.startsWith("descriptors"));
  assert.ok(descriptors?.isMet, descriptors?.value);
});
