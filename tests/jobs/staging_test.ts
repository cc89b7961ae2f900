import assert from "node:assert/strict";
import { INLINE_BYTES } from "../../src/jobs/staging.ts";
import { jobsOn, keysOf } from "./setup.ts";

const HOUR = 3_600_000;

function bytes(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => i % 251);
}

Deno.test("values up to 16 KiB are inline, larger ones lie in chunks", async () => {
  using kv = await Deno.openKv(":memory:");
  const { staging } = jobsOn(kv);
  for (const length of [0, 1, INLINE_BYTES]) {
    const stored = await staging.put(bytes(length));
    assert.ok("inline" in stored);
    assert.deepEqual(await staging.get(stored), bytes(length));
  }
  assert.deepEqual(await keysOf(kv), []);
  for (const length of [INLINE_BYTES + 1, 60_000, 60_001, 120_000, 1_100_000]) {
    const stored = await staging.put(bytes(length));
    assert.ok("stage" in stored);
    assert.equal(stored.chunks, Math.ceil(length / 60_000));
    assert.deepEqual(await staging.get(stored), bytes(length));
  }
});

Deno.test("a missing chunk is noticed", async () => {
  using kv = await Deno.openKv(":memory:");
  const { staging } = jobsOn(kv);
  const stored = await staging.put(bytes(150_000));
  assert.ok("stage" in stored);
  await kv.delete(["chunk", stored.stage, 1]);
  assert.equal(await staging.get(stored), undefined);
});

Deno.test("orphans are swept after an hour, adopted chunks never", async () => {
  using kv = await Deno.openKv(":memory:");
  const { staging, writer, clock } = jobsOn(kv);
  const adopted = await staging.put(bytes(100_000));
  const orphan = await staging.put(bytes(100_000));
  await writer.commit(staging.adopt(adopted));
  clock.advance(HOUR - 1);
  assert.equal(await staging.sweep(), 0);
  assert.deepEqual(await staging.get(orphan), bytes(100_000));
  clock.advance(1);
  assert.equal(await staging.sweep(), 1);
  assert.equal(await staging.get(orphan), undefined);
  assert.deepEqual(await staging.get(adopted), bytes(100_000));
  assert.equal(await staging.sweep(), 0);
});

Deno.test("discarded chunks are gone", async () => {
  using kv = await Deno.openKv(":memory:");
  const { staging, writer } = jobsOn(kv);
  const stored = await staging.put(bytes(100_000));
  await writer.commit(staging.discard(stored));
  assert.deepEqual(await keysOf(kv), []);
  assert.deepEqual(staging.discard({ inline: bytes(3) }), []);
  assert.deepEqual(staging.discard(undefined), []);
});
