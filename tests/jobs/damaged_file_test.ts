import assert from "node:assert/strict";
import { DurableRelayer } from "../memory/durable.ts";

const PAGE_BYTES = 4096;

/** Overwrites the page of `jobs.kv` where a text stands first. */
async function damagePageOf(text: string, dir: string): Promise<void> {
  const path = `${dir}/jobs.kv`;
  const bytes = await Deno.readFile(path);
  const at = new TextDecoder("latin1").decode(bytes).indexOf(text);
  const page = Math.floor(at / PAGE_BYTES);
  assert.ok(page > 0, "the text is in the file, and not on the page that every open reads");
  await Deno.writeFile(path, bytes.fill(77, page * PAGE_BYTES, (page + 1) * PAGE_BYTES));
}

Deno.test("damage that shows only when the jobs are read is named with a way out", async () => {
  await using durable = await DurableRelayer.start({
    config: { dispatch: { process: false, queue: false, sweeper: false } },
  });
  const { body } = await durable.svc.post("/api/remember", { text: "tea" });
  await assert.rejects(durable.restart({}, (dir) => damagePageOf(body.job_id, dir)), {
    code: "storage_unavailable",
    retryable: false,
    message: "jobs.kv is damaged: put back a copy, or move jobs.kv* away and lose what is not " +
      "stored yet",
  });
});
