import assert from "node:assert/strict";
import { exportOf, type Line } from "./exports.ts";
import { SignedIn } from "./signed_in.ts";

Deno.test("a large export is imported in batches, and once", async () => {
  await using here = await SignedIn.open();
  await here.terminal.write("all.ndjson", exportOf(5000));
  const first = await here.run(["import", "~/all.ndjson"], { isErrorTerminal: true });
  assert.deepEqual([first.code, first.out], [0, "Took 5,000 memories.\n"]);
  assert.match(first.err, /^\r[\d,]+ memories read/);
  assert(first.err.endsWith("\r\u001b[K"), first.err);
  assert.equal(here.asked.filter((request) => request.startsWith("POST /api/import")).length, 25);
  await here.svc.relayer.idle();
  const spaces = await here.json(["namespaces"]);
  assert.deepEqual(
    spaces.namespaces.map((one: Line) => [one.namespace, one.memory_count]),
    [["home", 2500], ["work", 2500]],
  );
  const again = await here.run(["import", "~/all.ndjson"]);
  assert.deepEqual(again, {
    code: 0,
    out: "Took 0 memories.\n  5,000 are there already\n",
    err: "",
  });
});
