import assert from "node:assert/strict";
import { memoryBlobStore } from "../../plugins/memory/blob_store.ts";
import { Gate, intercepted } from "../memory/intercepted.ts";
import { startRelayer, testBackends, TestClock } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { within } from "../within.ts";
import { assertError } from "./case.ts";

/** A relayer whose embedder says when it is asked, and answers when it is let. */
async function gated() {
  const clock = new TestClock();
  const backends = await testBackends(clock);
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const embed: typeof backends.embedder.embed = async (...args) => {
    asked.resolve();
    await gate.promise;
    return await backends.embedder.embed(...args);
  };
  const svc = await startRelayer({
    clock,
    backends: { ...backends, embedder: { ...backends.embedder, embed } },
  });
  return { svc, asked: asked.promise, open: gate.resolve };
}

Deno.test("a drain waits for running jobs, and refuses new requests meanwhile", async () => {
  verifies("15-13", "5-19");
  const { svc, asked, open } = await gated();
  await using _ = svc;
  const { body } = await svc.post("/api/remember", { text: "tea" });
  await asked;
  let drained = false;
  const drain = svc.relayer.drain(60_000).then(() => drained = true);
  assertError(await svc.post("/api/stats", {}), [503, "shutting_down"]);
  assert.equal(drained, false);
  open();
  await drain;
  const [entry] = await svc.backends.vectorStore.get(svc.owner, [body.memory_id]);
  assert.equal(entry?.id, body.memory_id, "the job was finished");
});

Deno.test("a drain ends when its time is up", async () => {
  verifies("15-13");
  const { svc, asked, open } = await gated();
  await using _ = svc;
  await svc.post("/api/remember", { text: "tea" });
  await asked;
  await svc.relayer.drain(5);
  open();
});

/** A manual remember whose upload is under way, and what lets it go on. */
async function uploading() {
  const gate = new Gate();
  gate.close();
  const blobStore = intercepted(memoryBlobStore(), {
    put: async (next, ...args) => {
      await gate.pass(args[1].signal);
      return await next(...args);
    },
  });
  // No test takes that long: the drain alone ends the wait.
  const svc = await startRelayer({ config: { manualWaitMs: 600_000 }, backends: { blobStore } });
  const vector = Array.from({ length: svc.backends.embedder.dimensions }, () => 1);
  const answer = svc.post("/api/remember/manual", { encrypted_data: btoa("tea"), vector });
  await gate.reached;
  return { svc, gate, answer };
}

Deno.test("who waits for a job is answered as soon as a drain has finished it", async () => {
  verifies("10.4-1", "15-13");
  const { svc, gate, answer } = await uploading();
  await using _ = svc;
  const drain = svc.relayer.drain(60_000);
  gate.open();
  assert.equal((await answer).status, 200);
  await drain;
});

Deno.test("who waits for a job that a drain puts down is told that it was accepted", async () => {
  verifies("15-13");
  const { svc, answer } = await uploading();
  await using _ = svc;
  await svc.relayer.drain(5);
  const { status, body } = await within(answer, () => "nobody is told");
  assert.equal(status, 202);
  assert.equal(body.blob_id, "");
});
