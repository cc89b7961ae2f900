import { rejects } from "node:assert/strict";
import type { Backends } from "../src/interfaces/mod.ts";
import { createRelayer } from "../src/relayer.ts";
import { memoryBackends } from "../plugins/memory.ts";

const broken = () => {
  throw new Error("broken");
};

/** Members whose failure ends a start late, when jobs are already being worked on. */
const LATE: Record<string, (backends: Backends) => Backends> = {
  outdated: (backends) => ({
    ...backends,
    vectorStore: { ...backends.vectorStore, outdated: () => Promise.try(broken) },
  }),
  watchMoves: (backends) => ({
    ...backends,
    blobStore: { ...backends.blobStore, watchMoves: broken },
  }),
  watch: (backends) => ({ ...backends, accounts: { ...backends.accounts, watch: broken } }),
};

for (const [member, breakIn] of Object.entries(LATE)) {
  // The test runner sees timers and files that are left over.
  Deno.test(`a start that fails in ${member} leaves nothing running`, async () => {
    await rejects(createRelayer({ backends: breakIn(memoryBackends()) }), { message: "broken" });
  });
}
