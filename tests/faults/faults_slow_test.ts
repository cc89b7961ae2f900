import assert from "node:assert/strict";
import type { Fault } from "./fault_proxy.ts";
import { tryFault } from "./run.ts";
import { SUBJECTS } from "./subjects.ts";

/** One of each way to fail that is over soon: no connection, no answer to use, an answer that is lost. */
const FEW: readonly Fault[] = ["refuses connections", "200 with other JSON", "loses the answer"];

Deno.test("what was accepted while the model server failed is done behind it", async () => {
  await SUBJECTS["models"]!(async ({ client, proxies }) => {
    for (const dependency of Object.entries(proxies)) {
      for (const fault of FEW) {
        const { accepted, problems } = await tryFault(client, dependency, fault);
        assert.deepEqual(problems, [], fault);
        assert.equal(accepted, 3, fault);
      }
    }
  });
});
