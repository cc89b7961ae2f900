import assert from "node:assert/strict";
import { mock } from "node:test";
import { memoryEmbedder } from "../../plugins/memory/embedder.ts";
import { SvcError } from "../../src/errors.ts";
import { startRelayer, TestClock } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { poll } from "../within.ts";
import { DurableRelayer } from "./durable.ts";
import { Gate, intercepted } from "./intercepted.ts";

const DAY = 86_400_000;

/** An embedder that fails documents with the error set. */
function failing(state: { error: SvcError | undefined }) {
  return intercepted(memoryEmbedder(), {
    embed: (next, ...args) =>
      state.error === undefined || args[1].purpose === "query"
        ? next(...args)
        : Promise.reject(state.error),
  });
}

const permanent = new SvcError("embedding_unavailable", "private detail", { retryable: false });

Deno.test("a failed job is pending after a retry, then done", async () => {
  verifies("8-6", "8-13", "10.2-1", "10.2-4", "8-20", "8-21");
  const state: { error: SvcError | undefined } = { error: permanent };
  await using svc = await startRelayer({ backends: { embedder: failing(state) } });
  const id = await svc.remember("tea", { namespace: "mine" });
  const failed = (await svc.get(`/api/remember/${id}`)).body;
  const { created_at, updated_at, error, ...rest } = failed;
  assert.deepEqual(rest, {
    job_id: id,
    status: "failed",
    owner: svc.owner,
    namespace: "mine",
    memory_id: id,
    recallable: false,
    attempts: 1,
    error_code: "embedding_failed",
  });
  assert.ok(created_at <= updated_at);
  assert.equal(error.includes("private"), false);
  state.error = undefined;
  const retried = await svc.post(`/api/remember/${id}/retry`, undefined);
  assert.equal(retried.status, 202);
  assert.equal(retried.body.status, "pending");
  assert.equal(retried.body.attempts, 0);
  assert.equal(retried.body.error_code, undefined);
  await svc.relayer.idle();
  const done = (await svc.get(`/api/remember/${id}`)).body;
  assert.equal(done.status, "done");
  assert.equal(done.recallable, true);
  assert.equal(done.blob_id.length > 0, true);
  assert.equal(done.error_code, undefined);
  assert.deepEqual(await svc.recall("tea", { namespace: "mine" }), ["tea"]);
});

Deno.test("only failed jobs of one's own memories that exist can be retried", async () => {
  verifies("10.2-2", "10.2-5", "10.2-6", "8-5");
  const gate = new Gate();
  const state: { error: SvcError | undefined } = { error: undefined };
  const embedder = intercepted(failing(state), {
    embed: async (next, ...args) => {
      await gate.pass(args[1].signal);
      return await next(...args);
    },
  });
  await using svc = await startRelayer({ backends: { embedder } });
  const retry = async (id: string, options = {}) =>
    (await svc.post(`/api/remember/${id}/retry`, {}, options)).body.code;
  const done = await svc.remember("done");
  assert.equal(await retry(done), "job_not_retryable");
  gate.close();
  const running = (await svc.post("/api/remember", { text: "running" })).body.job_id;
  assert.equal(await retry(running), "job_not_retryable");
  await svc.send("DELETE", `/api/memories/${running}`);
  gate.open();
  await svc.relayer.idle();
  assert.equal(await retry(running), "job_not_retryable");
  state.error = permanent;
  const failed = await svc.remember("failed");
  const { key } = await svc.addAccount();
  assert.equal(await retry(failed, { key }), "job_not_found");
  assert.equal((await svc.get(`/api/remember/${failed}`, { key })).body.code, "job_not_found");
  assert.equal(await retry(crypto.randomUUID()), "job_not_found");
  const status = await svc.post("/api/remember/bulk/status", { job_ids: [failed] }, { key });
  const forgotten = await svc.remember("failed", { namespace: "forgotten" });
  await svc.post("/api/forget", { namespace: "forgotten" });
  assert.equal(await retry(forgotten), "job_not_retryable");
  assert.deepEqual(status.body.results, [{ job_id: failed, status: "not_found" }]);
});

Deno.test("a forgotten namespace takes along what its failed jobs kept for a retry", async () => {
  verifies("10.14-6");
  const state: { error: SvcError | undefined } = { error: permanent };
  await using durable = await DurableRelayer.start({ embedder: () => failing(state) });
  const { svc } = durable;
  const large = "large tea ".repeat(10_000);
  const gone = await Promise.all(
    ["small tea", large].map((text) => svc.remember(text, { namespace: "gone" })),
  );
  for (const text of ["tea", "coffee"]) await svc.remember(text, { namespace: "stays" });
  assert.equal((await svc.post("/api/forget", { namespace: "gone" })).status, 200);
  for (const id of gone) {
    assert.equal((await svc.post(`/api/remember/${id}/retry`, {})).body.code, "job_not_retryable");
  }
  await durable.restart({}, async (dir) => {
    using kv = await Deno.openKv(`${dir}/jobs.kv`);
    const entries = await Array.fromAsync(kv.list<{ payload?: unknown }>({ prefix: [] }));
    const held = entries.filter(({ key: [kind] }) => kind === "held");
    assert.deepEqual(held.map(({ key }) => key[2]), ["stays", "stays"]);
    assert.equal(entries.filter(({ key: [kind] }) => kind === "chunk").length, 0);
    const withPayload = entries.filter(({ value }) => value?.payload !== undefined);
    assert.equal(withPayload.length, 2);
  });
});

Deno.test("temporary errors end a job after the attempts limit", async () => {
  verifies("8-11");
  const state = { error: new SvcError("embedding_unavailable") };
  const config = { jobMaxAttempts: 1 };
  await using svc = await startRelayer({ config, backends: { embedder: failing(state) } });
  const id = await svc.remember("tea");
  const { status, attempts, error_code } = (await svc.get(`/api/remember/${id}`)).body;
  assert.deepEqual([status, attempts, error_code], ["failed", 1, "embedding_failed"]);
});

Deno.test("unfinished jobs outlive a stop and a power cut without their caller", async () => {
  verifies("8-23", "8-15", "6-1", "6-2");
  const gate = new Gate();
  await using durable = await DurableRelayer.start({
    wrap: {
      embedder: (embedder) =>
        intercepted(embedder, {
          embed: async (next, ...args) => {
            if (args[1].purpose === "document") await gate.pass(args[1].signal);
            return await next(...args);
          },
        }),
    },
  });
  gate.close();
  const texts = ["small tea", "large tea ".repeat(10_000)];
  const ids: string[] = [];
  for (const text of texts) {
    ids.push((await durable.svc.post("/api/remember", { text })).body.job_id);
  }
  await durable.restart();
  await durable.cutPower();
  for (const id of ids) {
    const { status, recallable } = (await durable.svc.get(`/api/remember/${id}`)).body;
    assert.ok(status === "pending" || status === "running");
    assert.equal(recallable, false);
  }
  gate.open();
  await durable.svc.relayer.idle();
  for (const [i, id] of ids.entries()) {
    assert.equal((await durable.svc.get(`/api/remember/${id}`)).body.status, "done");
    assert.equal((await durable.svc.get(`/api/memories/${id}`)).body.text, texts[i]);
  }
  assert.equal((await durable.svc.get("/api/memories")).body.total, 2);
});

Deno.test("a record goes after its days, the memory stays", async () => {
  verifies("8-17", "8-18", "10.2-2");
  mock.timers.enable({ apis: ["setInterval"] });
  try {
    const clock = new TestClock();
    clock.freeze();
    const state: { error: SvcError | undefined } = { error: undefined };
    const backends = { embedder: failing(state) };
    await using svc = await startRelayer({ clock, backends, config: { jobRetentionDays: 2 } });
    const done = await svc.remember("tea");
    state.error = permanent;
    const earlier = await svc.remember("never, a moment before");
    clock.advance(1);
    const failed = await svc.remember("never");
    const statuses = async () =>
      await Promise.all(
        [done, failed].map(async (id) => (await svc.get(`/api/remember/${id}`)).status),
      );
    const upkeep = async (gone: string) => {
      mock.timers.tick(600_000);
      await poll(() => svc.get(`/api/remember/${gone}`), ({ status }) => status === 404);
    };
    clock.advance(2 * DAY);
    await upkeep(earlier);
    assert.deepEqual(await statuses(), [200, 200]);
    clock.advance(1);
    await upkeep(failed);
    // The id of a stored memory still says that it is done.
    assert.deepEqual(await statuses(), [200, 404]);
    assert.deepEqual(await svc.recall("tea"), ["tea"]);
    assert.equal((await svc.get(`/api/memories/${done}`)).body.status, "done");
    const retry = await svc.post(`/api/remember/${failed}/retry`, {});
    assert.equal(retry.body.code, "job_not_found");
  } finally {
    mock.timers.reset();
  }
});
