import { deepStrictEqual, rejects, strictEqual, throws } from "node:assert/strict";
import { memoryBackends } from "../../plugins/memory/mod.ts";
import { completeConfig, DEFAULT_CONFIG, type RelayerConfig } from "../../src/interfaces/config.ts";
import { createRelayer } from "../../src/relayer.ts";

Deno.test("what a configuration leaves out or does not say has its default", () => {
  deepStrictEqual(completeConfig(), DEFAULT_CONFIG);
  // As a program without types may write it.
  const given = { jobConcurrency: undefined, quotaBytes: 5 } as unknown as Partial<RelayerConfig>;
  deepStrictEqual(completeConfig(given), { ...DEFAULT_CONFIG, quotaBytes: 5 });
});

Deno.test("a number at the edge of its range is taken, the next one refused by name", () => {
  const edges = [
    ["jobConcurrency", 1, 0],
    ["quotaBytes", 0, -1],
    ["maxPendingJobs", Infinity, NaN],
    // Takes no writes.
    ["maxPendingJobs", 0, -1],
    ["recallWaitMs", 2 ** 31 - 1, 2 ** 31],
    ["bodyTimeoutMs", 1, 0],
  ] as const;
  for (const [name, taken, refused] of edges) {
    strictEqual(completeConfig({ [name]: taken })[name], taken);
    throws(() => completeConfig({ [name]: refused }), {
      code: "invalid_parameter",
      message: new RegExp(`^config\\.${name} must be a number`),
    });
  }
});

Deno.test("numbers inside limits and weights are checked, too", () => {
  const { rateLimit } = DEFAULT_CONFIG;
  const refused: [unknown, RegExp][] = [
    [{ rateLimit: { ...rateLimit, keyPerMinute: "600" } }, /^config\.rateLimit\.keyPerMinute must/],
    [
      { rateLimit: { ...rateLimit, weights: { "POST /api/ask": -1 } } },
      /weights of POST \/api\/ask/,
    ],
    [{ rateLimit: { keyPerMinute: 1 } }, /^config\.rateLimit\.accountPerMinute must/],
    [{ sponsor: null }, /^config\.sponsor must be an object/],
  ];
  for (const [config, message] of refused) {
    throws(() => completeConfig(config as Partial<RelayerConfig>), { message });
  }
});

Deno.test("a public address is one that clients can use", () => {
  for (const publicUrl of ["https://memory.example.org", "http://127.0.0.1:8000"]) {
    strictEqual(completeConfig({ publicUrl }).publicUrl, publicUrl);
  }
  for (
    const publicUrl of ["memory.example.org", "", "ftp://memory.example.org", "localhost:8000"]
  ) {
    throws(() => completeConfig({ publicUrl }), { message: /^config\.publicUrl must be/ });
  }
});

Deno.test("a relayer does not start with a configuration that cannot work", async () => {
  const started = createRelayer({ backends: memoryBackends(), config: { jobConcurrency: 0 } });
  await rejects(started, { code: "invalid_parameter", message: /config\.jobConcurrency/ });
});
