import { rejects } from "node:assert/strict";
import type { Backends } from "../../src/interfaces/mod.ts";
import { createRelayer } from "../../src/relayer.ts";
import { memoryBackends } from "../../plugins/memory/mod.ts";

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

Deno.test("a data directory is one relayer's, until that is disposed of or did not start", async () => {
  const dataDir = await Deno.makeTempDir();
  const relayerKey = new Uint8Array(32).fill(7);
  const backends = memoryBackends();
  const start = (given = backends) => createRelayer({ dataDir, relayerKey, backends: given });
  const taken = { code: "invalid_parameter", message: `Another relayer uses ${dataDir}` };
  await rejects(start(LATE.watch!(backends)), { message: "broken" });
  const first = await start();
  await rejects(start(), taken);
  await first[Symbol.asyncDispose]();
  await (await start())[Symbol.asyncDispose]();
  await Deno.remove(dataDir, { recursive: true });
});

Deno.test("a relayer key has 32 bytes, and a data directory needs one", async () => {
  const backends = memoryBackends();
  const refusal = { code: "invalid_parameter", message: /relayerKey of 32 bytes/ };
  for (const length of [0, 16, 33]) {
    await rejects(createRelayer({ backends, relayerKey: new Uint8Array(length) }), refusal);
  }
  await rejects(createRelayer({ backends, dataDir: "/nowhere" }), refusal);
});

Deno.test("a queue's file that cannot be opened is said to be it", async () => {
  const dataDir = await Deno.makeTempDir();
  const relayerKey = new Uint8Array(32).fill(7);
  await Deno.mkdir(`${dataDir}/jobs.kv`);
  await rejects(createRelayer({ dataDir, relayerKey, backends: memoryBackends() }), {
    name: "SvcError",
    code: "storage_unavailable",
  });
  await Deno.remove(dataDir, { recursive: true });
});
