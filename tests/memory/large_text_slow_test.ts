import assert from "node:assert/strict";
import type { Json } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { DurableRelayer } from "./durable.ts";
import { Gate, intercepted } from "./intercepted.ts";

const MIB = 1_048_576;

/** A text of so many bytes that begins with a word of its own. */
function textOf(word: string, bytes: number): string {
  return `${word} `.padEnd(bytes, "lorem ipsum dolor sit amet ");
}

Deno.test("texts of every size come back byte for byte, also after a restart", async () => {
  verifies("10.1-2", "10.1-1");
  await using durable = await DurableRelayer.start();
  const texts = [
    ...[1, 16_000, 16_384, 16_500, 60_000, 65_536, 70_000, 200_000].map((n, i) =>
      textOf(`word${i}`, n)
    ),
    textOf("longest", MIB),
    `emoji ${"🫖".repeat(100_000)}`,
    "  white space around\n\t and \u0000 inside\ufeff ",
  ];
  const ids: string[] = [];
  for (const text of texts) ids.push(await durable.svc.remember(text));
  for (let round = 0; round < 2; round++) {
    for (const [i, id] of ids.entries()) {
      const { body } = await durable.svc.get(`/api/memories/${id}`);
      assert.equal(body.text === texts[i], true, `text ${i}`);
      assert.equal(body.status, "done");
    }
    const found = await durable.svc.recall("longest", { limit: 1 });
    assert.equal(found[0] === texts[8], true);
    await durable.restart();
  }
});

Deno.test("a recall that races the upload of a large text finds it", async () => {
  verifies("10.6-26");
  await using durable = await DurableRelayer.start();
  const { svc } = durable;
  for (let i = 0; i < 20; i++) {
    const text = textOf(`racing${i}`, 100_000);
    const { body } = await svc.post("/api/remember", { text });
    for (let state = ""; state !== "done";) {
      const [recalled, job] = await Promise.all([
        svc.post("/api/recall", { query: `racing${i}`, limit: 1 }),
        svc.get(`/api/remember/${body.job_id}`),
      ]);
      assert.equal(recalled.status, 200);
      assert.equal(recalled.body.dropped_count, undefined);
      assert.equal(recalled.body.results[0]?.text === text, true);
      state = job.body.status;
    }
  }
});

Deno.test("a large text is read from its job while its upload is under way", async () => {
  verifies("8-7", "8-9");
  const gate = new Gate();
  await using durable = await DurableRelayer.start({
    wrap: {
      blobStore: (blobStore) =>
        intercepted(blobStore, {
          put: async (next, ...args) => {
            await gate.pass(args[1].signal);
            return await next(...args);
          },
        }),
    },
  });
  gate.close();
  const text = textOf("uploading", MIB);
  const { body } = await durable.svc.post("/api/remember", { text });
  const check = async (): Promise<Json> => {
    const { body: found } = await durable.svc.post("/api/recall", { query: "uploading" });
    assert.equal(found.results[0].text === text, true);
    return found.results[0];
  };
  assert.equal((await check()).blob_id, "");
  await durable.cutPower();
  assert.equal((await check()).blob_id, "");
  gate.open();
  await durable.svc.relayer.idle();
  assert.notEqual((await check()).blob_id, "");
  assert.equal((await durable.svc.get(`/api/remember/${body.job_id}`)).body.status, "done");
});
