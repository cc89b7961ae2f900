import assert from "node:assert/strict";
import { CoreDb } from "../../../src/storage/core_db.ts";
import { verifies } from "../../requirements.ts";
import { DurableRelayer } from "../durable.ts";

Deno.test("a memory says how often it was sent again word for word, and when last", async () => {
  verifies("2-32");
  await using durable = await DurableRelayer.start({ config: { deduplicate: true } });
  const text = "My sister lives in Brno.";
  const send = async () => {
    durable.clock.advance(2_000);
    const { body } = await durable.svc.post("/api/remember", { text });
    await durable.svc.relayer.idle();
    return body.memory_id;
  };
  const id = await send();
  const known = async () => {
    const { copies, copied_at } = (await durable.svc.get(`/api/memories/${id}`)).body;
    return [copies, copied_at];
  };
  assert.deepEqual(await known(), [undefined, undefined]);
  await send();
  await durable.svc.post("/api/remember/bulk", { items: [{ text }, { text: "I like tea" }] });
  await durable.svc.relayer.idle();
  const [count, at] = await known();
  assert.equal(count, 2);
  assert.ok(Math.abs(Date.parse(at) - durable.clock.now()) < 30_000, at);
  const { body } = await durable.svc.post("/api/recall", { query: "where does my sister live?" });
  assert.deepEqual([body.results[0].copies, body.results[0].copied_at], [2, at]);
  await durable.restart();
  assert.deepEqual(await known(), [2, at]);
  // What waits less than a second is lost by a power cut, and nothing else.
  await send();
  await durable.cutPower();
  assert.deepEqual((await known())[0], 3);
  await durable.svc.send("DELETE", `/api/memories/${id}`);
  await durable.svc.relayer.idle();
  assert.notEqual(await send(), id);
});

Deno.test("copies are written together, and dropped with their memory", () => {
  using core = new CoreDb(":memory:");
  const { copies } = core;
  for (let i = 0; i < 2_500; i++) copies.note("0x1", `m${i % 1_250}`, 1_000 + Math.ceil(i / 10));
  assert.deepEqual(copies.of("0x1", "m7")?.count, 2);
  assert.equal(copies.of("0x2", "m7"), undefined);
  copies.flush();
  assert.deepEqual({ ...copies.of("0x1", "m7") }, { count: 2, lastAt: 1_126 });
  copies.note("0x1", "m7", 500);
  assert.equal(copies.of("0x1", "m7")?.count, 3);
  copies.remove("0x1", ["m7", "m8"]);
  assert.equal(copies.of("0x1", "m7"), undefined);
  assert.equal(copies.of("0x1", "m9")?.count, 2);
});
