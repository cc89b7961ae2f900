import assert from "node:assert/strict";
import { Installation } from "../crash/installation.ts";
import { freePort } from "../free_port.ts";
import { call, health, type Identity, idle, listAll } from "../crash/wire.ts";
import { poll } from "../within.ts";

const REQUESTS = 20;
const BULK = 20;
const OUTAGE_MS = 6_000;
const RELAYER_STARTED = /"child process started","process":"relayer","pid":(\d+)/;

/** Sets how large a file the process may write; `0` refuses every byte, as a full disk does. */
async function limitFiles(pid: number, bytes: "0" | "unlimited"): Promise<void> {
  const args = [`--pid=${pid}`, `--fsize=${bytes}:`];
  const { success, stderr } = await new Deno.Command("prlimit", { args }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

/** Ids of the jobs. */
async function bulk(url: string, identity: Identity, number: number): Promise<readonly string[]> {
  const items = Array.from({ length: BULK }, (_, i) => ({
    text: `Fact ${number * BULK + i}: the kettle of house ${number} has the colour of door ${i}`,
  }));
  const answer = await call(url, identity, { route: "POST /api/remember/bulk", body: { items } });
  assert.equal(answer.status, 202);
  return answer.body.job_ids;
}

/**
 * Writes until the time is up, each refused; or until the relayer was started anew, without a limit.
 * Deno ends the process where its table fails while it takes a message of the queue.
 */
async function refusedWrites(url: string, identity: Identity): Promise<"refused" | "restarted"> {
  for (const end = performance.now() + OUTAGE_MS; performance.now() < end;) {
    const body = { text: "It was full" };
    const answer = await call(url, identity, { route: "POST /api/remember", body })
      .catch((error) => assert.ok(error instanceof TypeError));
    if (answer?.status === 202) return "restarted";
    if (answer !== undefined) {
      assert.equal(answer.status, 503);
      assert.match(answer.body.code, /^(storage_unavailable|shutting_down)$/);
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return "refused";
}

Deno.test({
  name: "a full disk refuses writes, answers reads, and costs no accepted memory",
  // Elsewhere nobody can limit the files of a process that runs.
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using installation = await Installation.create({ SVC_PORT: String(freePort()) });
    const identity = await installation.account();
    await using program = await installation.launch(["start"], {}, "trap '' XFSZ");
    const { url, child } = program;
    const pid = Number((await child.until(RELAYER_STARTED))[1]);
    const first = await bulk(url, identity, 0);
    await idle(url);
    const numbers = Array.from({ length: REQUESTS - 1 }, (_, i) => i + 1);
    const rest = await Promise.all(numbers.map((number) => bulk(url, identity, number)));
    const jobs = [...first, ...rest.flat()];
    // The queue's message has been taken by now, most of the jobs have not.
    await new Promise((resolve) => setTimeout(resolve, 200));

    await limitFiles(pid, "0");
    const end = await refusedWrites(url, identity);
    if (end === "refused") {
      const query = { query: "Which colour has the kettle?" };
      const recalled = await call(url, identity, { route: "POST /api/recall", body: query });
      assert.equal(recalled.status, 200);
      assert.ok(recalled.body.results.length > 0);
      const { status, dependencies: { queue } } = await health(url);
      assert.deepEqual([status, queue.status], ["unavailable", "down"]);
      assert.equal(child.errors.match(/"event":"jobs_held_back"/g)?.length, 1);
      await limitFiles(pid, "unlimited");
      // Without any other write: who balances load sends none before.
      await poll(() => health(url), ({ status }) => status === "ok", 5000);
    }
    await idle(url);
    for (let at = 0; at < jobs.length; at += BULK) {
      const body = { job_ids: jobs.slice(at, at + BULK) };
      const route = "POST /api/remember/bulk/status";
      for (const job of (await call(url, identity, { route, body })).body.results) {
        assert.equal(job.status, "done");
        assert.ok(job.attempts <= 3, `${job.attempts} attempts`);
      }
    }
    const memories = await listAll(url, identity, "default");
    const facts = memories.filter(({ text }) => text.startsWith("Fact"));
    assert.equal(facts.length, REQUESTS * BULK);
    assert.equal(new Set(facts.map(({ text }) => text)).size, REQUESTS * BULK);
    assert.equal(memories.length - facts.length, end === "restarted" ? 1 : 0);
  },
});
