import assert from "node:assert/strict";
import { Installation, type RunningRelayer } from "./installation.ts";
import { IS_ON_POSTGRES } from "../test_store.ts";
import { textOf } from "./texts.ts";
import { call, listAll, send, sign, type SignedRequest } from "./wire.ts";
import { poll } from "../within.ts";

const isReplay = (headers: Headers) => headers.get("idempotency-replayed") === "true";

const STOPS: Readonly<Record<string, (relayer: RunningRelayer) => Promise<unknown>>> = {
  "a clean stop": async (relayer) => assert.equal(await relayer.stop(), 0),
  "a crash": (relayer) => relayer.crash(),
};

for (const [name, stop] of Object.entries(STOPS)) {
  Deno.test(`what was sent before ${name} has no further effect after it`, async () => {
    await using installation = await Installation.create({ SVC_EMBEDDER: "memory" });
    const identity = await installation.account();
    const route = "POST /api/remember";
    const signed = (text: string, form: "nonce" | "legacy", ahead = 0) =>
      sign(identity, { route, body: { text }, form, ahead });
    const write = await signed(textOf(60), "nonce");
    // Later than any start of this test: only the nonce itself can refuse it.
    const lateWrite = await signed(textOf(60), "nonce", 250);
    const lateRead = await sign(identity, { route: "GET /api/account", ahead: 250 });
    const legacy = await signed(textOf(60), "legacy");
    const keyed = { route, body: { text: textOf(60) }, idempotencyKey: "the-key" };
    const answers = new Map<SignedRequest, string>();
    let keyedId: string;
    let remove: SignedRequest;
    {
      await using relayer = await installation.start();
      assert.equal((await send(relayer.url, lateRead)).status, 200);
      const readAt = performance.now();
      for (const request of [write, lateWrite, legacy]) {
        const answer = await send(relayer.url, request);
        assert.equal(answer.status, 202);
        answers.set(request, answer.body.memory_id);
      }
      keyedId = (await call(relayer.url, identity, keyed)).body.memory_id;
      assert.ok(keyedId);
      const victim = await send(relayer.url, await signed(textOf(60), "nonce"));
      const route = `DELETE /api/memories/${victim.body.memory_id}`;
      remove = await sign(identity, { route, form: "legacy" });
      assert.equal((await send(relayer.url, remove)).status, 200);
      // A read's nonce is on disk within a second.
      await poll(() => Promise.resolve(performance.now() - readAt), (ms) => ms > 1000, 2000);
      await stop(relayer);
    }
    await using relayer = await installation.start();
    for (const request of [lateWrite, lateRead]) {
      const { status, body } = await send(relayer.url, request);
      assert.deepEqual([status, body.code], [401, "nonce_reused"]);
    }
    const { status, body } = await send(relayer.url, write);
    // A store that relayers share has every nonce before the answer: a start refuses no time.
    const isForgotten = name === "a crash" && !IS_ON_POSTGRES;
    const code = isForgotten ? "timestamp_out_of_range" : "nonce_reused";
    assert.deepEqual([status, body.code], [401, code]);

    const again = await send(relayer.url, legacy);
    assert.deepEqual([again.status, again.body.memory_id], [202, answers.get(legacy)]);
    assert.ok(isReplay(again.headers));
    const removed = await send(relayer.url, remove);
    assert.ok(removed.status === 200 && isReplay(removed.headers));
    const retried = await call(relayer.url, identity, keyed);
    assert.deepEqual([retried.status, retried.body.memory_id], [202, keyedId]);
    assert.ok(isReplay(retried.headers));
    const other = await call(relayer.url, identity, { ...keyed, body: { text: textOf(60) } });
    assert.deepEqual([other.status, other.body.code], [409, "idempotency_conflict"]);

    assert.equal((await listAll(relayer.url, identity, "default")).length, 4);
  });
}
