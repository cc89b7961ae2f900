import assert from "node:assert/strict";
import { memoryEmbedder } from "../../../plugins/memory/embedder.ts";
import { SvcError } from "../../../src/errors.ts";
import type { Cipher, Embedder } from "../../../src/interfaces/mod.ts";
import type { DurableOptions } from "../durable.ts";
import { DurableRelayer } from "../durable.ts";
import { guarded, SESSION } from "../guarded.ts";
import { Gate, type Hooks, intercepted } from "../intercepted.ts";
import { verifies } from "../../requirements.ts";
import { poll } from "../../within.ts";

const FOREIGN = { "x-delegate-key": "cd".repeat(32) };

/** A relayer whose memories open for one session, and whose jobs stop before they embed. */
async function start(options: DurableOptions = {}) {
  const gate = new Gate();
  const state = { sealed: 0, isDown: false };
  const embedder = () =>
    intercepted<Embedder>(memoryEmbedder(), {
      embed: async (next, texts, how) => {
        if (how.purpose === "document") await gate.pass(how.signal);
        return await next(texts, how);
      },
    });
  const seal: Hooks<Cipher>["seal"] = (next, ...args) => {
    state.sealed++;
    return state.isDown ? Promise.reject(new SvcError("chain_unavailable")) : next(...args);
  };
  const wrap = { cipher: (cipher: Cipher) => guarded(cipher, { seal }) };
  const relayer = await DurableRelayer.start({ embedder, ...options, wrap });
  return { relayer, gate, state };
}

const statusOf = async ({ svc }: DurableRelayer, id: string, headers = {}) =>
  (await svc.get(`/api/remember/${id}`, { headers })).body;

const accepted = async ({ svc }: DurableRelayer, text: string): Promise<string> =>
  (await svc.post("/api/remember", { text })).body.job_id;

const textsOf = (body: { results: { text: string }[] }) => body.results.map(({ text }) => text);

Deno.test("after a power cut what waits goes on when somebody comes who may read it", async () => {
  verifies("8-23", "8-24");
  const { relayer, gate } = await start();
  await using _ = relayer;
  gate.close();
  const ids = [await accepted(relayer, "tea with honey"), await accepted(relayer, "tea with milk")];
  await gate.reached;
  assert.equal((await statusOf(relayer, ids[0]!)).waits_for, undefined);
  await relayer.cutPower();
  gate.open();
  await relayer.svc.relayer.idle();
  for (const headers of [{}, FOREIGN]) {
    for (const id of ids) {
      const { status, waits_for } = await statusOf(relayer, id, headers);
      assert.ok(status === "pending" || status === "running");
      assert.equal(waits_for, "credential");
    }
  }
  const metrics = await relayer.svc.plain("GET", "/metrics");
  assert.match(metrics.text, /svc_jobs\{state="locked"\} 2/);
  assert.match(metrics.text, /svc_job_oldest_seconds 0/);
  const { body } = await relayer.svc.post("/api/recall", { query: "tea" }, { headers: SESSION });
  assert.deepEqual(textsOf(body).sort(), ["tea with honey", "tea with milk"]);
  for (const id of ids) {
    const ended = await poll(() => statusOf(relayer, id), ({ status }) => status === "done");
    assert.equal(ended.waits_for, undefined);
    assert.equal(ended.attempts <= 2, true, "waiting is no try");
  }
});

Deno.test("bulk status tells of it, and asking with the credential ends it", async () => {
  const { relayer, gate } = await start();
  await using _ = relayer;
  gate.close();
  const id = await accepted(relayer, "tea with honey");
  await gate.reached;
  await relayer.cutPower();
  gate.open();
  const ask = async (headers: Record<string, string>) =>
    (await relayer.svc.post("/api/remember/bulk/status", { job_ids: [id] }, { headers })).body
      .results[0];
  assert.equal((await ask({})).waits_for, "credential");
  await poll(() => ask(SESSION), ({ status }) => status === "done");
});

Deno.test("what was deleted while it was locked does not come back", async () => {
  const { relayer, gate } = await start();
  await using _ = relayer;
  gate.close();
  const id = await accepted(relayer, "tea with honey");
  await accepted(relayer, "tea with milk");
  const elsewhere = { text: "tea", namespace: "elsewhere" };
  const forgotten = (await relayer.svc.post("/api/remember", elsewhere)).body.job_id;
  await gate.reached;
  await relayer.cutPower();
  gate.open();
  assert.equal((await relayer.svc.send("DELETE", `/api/memories/${id}`)).status, 200);
  await relayer.svc.post("/api/forget", { namespace: "elsewhere" });
  for (const gone of [id, forgotten]) {
    assert.equal((await statusOf(relayer, gone)).error_code, "deleted");
  }
  const recall = (body: object) => relayer.svc.post("/api/recall", body, { headers: SESSION });
  assert.deepEqual(textsOf((await recall({ query: "tea" })).body), ["tea with milk"]);
  assert.deepEqual((await recall({ query: "tea", namespace: "elsewhere" })).body.results, []);
});

Deno.test("a job that failed is tried again by somebody who may read it", async () => {
  const failing = { is: true };
  const embedder = () =>
    intercepted<Embedder>(memoryEmbedder(), {
      embed: (next, texts, how) => {
        if (!failing.is || how.purpose !== "document") return next(texts, how);
        throw new SvcError("embedding_unavailable", undefined, { retryable: false });
      },
    });
  const { relayer } = await start({ embedder });
  await using _ = relayer;
  const id = await accepted(relayer, "tea with honey");
  await poll(() => statusOf(relayer, id), ({ status }) => status === "failed");
  failing.is = false;
  await relayer.restart();
  const retry = (headers: Record<string, string>) =>
    relayer.svc.post(`/api/remember/${id}/retry`, {}, { headers });
  assert.equal((await retry({})).body.waits_for, "credential");
  await poll(() => statusOf(relayer, id, SESSION), ({ status }) => status === "done");
});

Deno.test("one key serves a namespace, and on while no other can be sealed", async () => {
  const { relayer, state } = await start();
  await using _ = relayer;
  await relayer.svc.remember("tea with honey");
  const first = state.sealed;
  await relayer.svc.remember("tea with milk");
  assert.equal(state.sealed - first, 1, "the record alone");
  state.isDown = true;
  relayer.clock.advance(6 * 60_000);
  assert.equal((await relayer.svc.post("/api/remember", { text: "tea" })).status, 202);
  const elsewhere = { text: "tea", namespace: "elsewhere" };
  const refused = await relayer.svc.post("/api/remember", elsewhere);
  assert.deepEqual([refused.status, refused.body.code], [503, "chain_unavailable"]);
  state.isDown = false;
  assert.equal((await relayer.svc.post("/api/remember", elsewhere)).status, 202);
});
