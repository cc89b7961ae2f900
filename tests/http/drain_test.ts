import assert from "node:assert/strict";
import { startRelayer, testBackends, TestClock } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";

/** A relayer whose embedder says when it is asked, and answers when it is let. */
async function gated() {
  const clock = new TestClock();
  const backends = testBackends(clock);
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
