import assert from "node:assert/strict";
import { verifies } from "../../requirements.ts";
import { turns } from "../../within.ts";
import { HEADER, type Line, ndjson } from "./exports.ts";
import { SignedIn } from "./signed_in.ts";

const ID = "11111111-2222-4333-8444-555555555555";

/** A memory with so many versions, as lines of an export. */
const versions = (count: number): Line[] =>
  Array.from({ length: count }, (_, i) => ({
    type: i + 1 === count ? "memory" : "version",
    memory_id: ID,
    namespace: "default",
    text: `said ${i + 1}`,
    version: i + 1,
    updated_at: new Date(Date.UTC(2026, 0, 1, 0, i)).toISOString(),
  }));

Deno.test("history reads the same where an export with it was imported", async () => {
  verifies("13.4-3");
  await using here = await SignedIn.open();
  const id = await here.svc.remember("before");
  await here.run(["edit", id, "in between"]);
  await here.run(["edit", id, "after"]);
  await here.svc.remember("alone");
  const made = await here.run(["export", "--history", "--output", "~/all.ndjson"]);
  assert.deepEqual([made.code, made.out], [
    0,
    "2 memories and 2 earlier versions: ~/all.ndjson\n",
  ]);
  const { home } = here.terminal;
  await using there = await SignedIn.open();
  const preview = await there.run(["import", `${home}/all.ndjson`, "--preview"]);
  assert.match(preview.out, /\(svc\): 2 memories, 2 earlier versions\n/);
  const taken = await there.run(["import", `${home}/all.ndjson`]);
  assert.deepEqual([taken.code, taken.out], [0, "Took 2 memories and 2 earlier versions.\n"]);
  const read = async (terminal: SignedIn) => {
    const { versions } = await terminal.json(["history", id]);
    return versions.map(({ blob_id: _, source: __, ...version }: Line) => version);
  };
  assert.deepEqual(await read(there), await read(here));
  const again = await there.run(["import", `${home}/all.ndjson`]);
  assert.equal(
    again.out,
    "Took 0 memories.\n  2 are there already\n" +
      "  2 earlier versions were left out: they are there, or too late to be added\n",
  );
  const machine = await there.json(["import", `${home}/all.ndjson`]);
  assert.deepEqual([machine.versions, machine.skipped.history], [0, 2]);
  const markdown = await here.run(["export", "--history", "--markdown", "~/notes"]);
  assert.equal(markdown.code, 2);
});

Deno.test("more versions than a request may have are taken in their order", async () => {
  await using here = await SignedIn.open();
  await here.terminal.write(
    "all.ndjson",
    ndjson([HEADER, ...versions(450), { type: "end", memories: 1, errors: 0, versions: 449 }]),
  );
  // The first request is answered late: no other may overtake it.
  let isFirst = true;
  here.between = async (request) => {
    if (!request.url.includes("/api/import") || !isFirst) return undefined;
    isFirst = false;
    await turns(100);
    return undefined;
  };
  const { out } = await here.run(["import", "~/all.ndjson"]);
  assert.equal(out, "Took 1 memory and 449 earlier versions.\n");
  await here.svc.relayer.idle();
  const { body } = await here.svc.get(`/api/memories/${ID}`);
  assert.deepEqual([body.text, body.versions.length], ["said 450", 450]);
});

Deno.test("a relayer that knows no history is named, and loses none in silence", async () => {
  await using here = await SignedIn.open();
  here.between = (request) =>
    request.url.endsWith("/api/export")
      ? new Response(ndjson([HEADER, { type: "end", memories: 0, errors: 0 }]))
      : undefined;
  const made = await here.run(["export", "--history"]);
  assert.equal(made.err, "This relayer is of an earlier version: it exports no history.\n");
  await here.terminal.write("all.ndjson", ndjson([HEADER, ...versions(3)]));
  here.between = (request) => {
    if (!request.url.includes("/api/import")) return undefined;
    const none = { skipped: 0, failed: 0, job_ids: [], skips: [], errors: [] };
    return Response.json({ ...none, accepted: 1, status: "pending" }, { status: 202 });
  };
  const taken = await here.run(["import", "~/all.ndjson"]);
  assert.match(taken.out, /^Took 1 memory\.\n {2}2 earlier versions were left out/);
  here.between = (request) =>
    request.url.endsWith("/api/export")
      ? new Response(ndjson([
        HEADER,
        { type: "error", memory_id: ID, version: 1, code: "storage_unavailable" },
        { type: "end", memories: 0, errors: 1, versions: 0 },
      ]))
      : undefined;
  const lost = await here.run(["export", "--history", "--output", "~/lost.ndjson"]);
  assert.deepEqual([lost.code, lost.err], [1, "1 earlier version could not be opened.\n"]);
});
