import assert from "node:assert/strict";
import { verifies } from "../requirements.ts";
import type { Store } from "./erasure_canary.ts";

/**
 * Looks in a process of its own: a process that loads LanceDB's native code into a second isolate
 * crashes, and `tests/plugins/lancedb` has loaded it into one.
 */
async function lookElsewhere(store: Store): Promise<void> {
  const canary = new URL("./erasure_canary.ts", import.meta.url).href;
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", "--allow-all", canary, JSON.stringify(store)],
    stdin: "null",
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
}

for (const name of ["embedded", "lancedb"] as const) {
  Deno.test(`no byte of what was deleted stands in a file: ${name}`, async () => {
    verifies("10.14-1", "10.14-2");
    await lookElsewhere({ name, records: 300, bytes: 2_000, jobsBytes: 480_000 });
  });
}

/** `deno task erasure` does; among all tests it would take seven minutes of a processor. */
const IS_WHOLE = Deno.env.get("SVC_TEST_ERASURE") === "1";

for (const name of ["embedded", "lancedb"] as const) {
  Deno.test({
    name: `nor of ten thousand, with more than 64 MiB of jobs: ${name}`,
    ignore: !IS_WHOLE,
    async fn() {
      verifies("10.14-1");
      // Jobs that end make room for later ones: what is sent is more than what stands at once.
      await lookElsewhere({
        name,
        records: 10_000,
        bytes: 10_000,
        jobsBytes: 64 * 1024 * 1024,
      });
    },
  });
}
