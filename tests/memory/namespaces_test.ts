import assert from "node:assert/strict";
import type { Json } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { DurableRelayer } from "./durable.ts";
import { HOSTILE, inQuery } from "./hostile.ts";

Deno.test("hostile names are different namespaces, listed page by page", async () => {
  verifies("10.10-1", "10.10-2", "10.6-25");
  await using durable = await DurableRelayer.start();
  for (const [i, namespace] of HOSTILE.entries()) {
    await durable.svc.remember(`tea of ${i}`, { namespace });
    if (i % 2 === 0) await durable.svc.remember(`more tea of ${i}`, { namespace });
  }
  for (let round = 0; round < 2; round++) {
    const { svc } = durable;
    const all = (await svc.get("/api/namespaces")).body;
    assert.equal(all.total, HOSTILE.length);
    const names = all.namespaces.map((item: Json) => item.namespace);
    assert.deepEqual(new Set(names), new Set(HOSTILE));
    assert.equal(all.next_cursor, undefined);
    const paged: Json[] = [];
    let cursor = "";
    do {
      const { body } = await svc.get(`/api/namespaces?limit=3${cursor}`);
      assert.ok(body.namespaces.length <= 3);
      assert.equal(body.total, HOSTILE.length);
      paged.push(...body.namespaces);
      cursor = body.next_cursor === undefined ? "" : `&cursor=${body.next_cursor}`;
    } while (cursor !== "");
    assert.deepEqual(paged, all.namespaces);
    for (const [i, namespace] of HOSTILE.entries()) {
      const listed = all.namespaces.find((item: Json) => item.namespace === namespace);
      assert.equal(listed.memory_count, i % 2 === 0 ? 2 : 1);
      const texts = await svc.recall("tea", { namespace });
      assert.deepEqual(
        texts.sort(),
        i % 2 === 0 ? [`more tea of ${i}`, `tea of ${i}`] : [`tea of ${i}`],
      );
      const { body } = await svc.get(`/api/memories?namespace=${inQuery(namespace)}`);
      assert.equal(body.total, texts.length);
      assert.equal(body.memories[0].namespace, namespace);
    }
    await durable.restart();
  }
});

Deno.test("stats, namespaces and account count the same bytes", async () => {
  verifies("10.10-3", "10.10-7", "10.10-8");
  await using durable = await DurableRelayer.start();
  durable.clock.freeze();
  const { svc } = durable;
  await svc.remember("tea");
  await svc.remember("more tea", { namespace: "other" });
  durable.clock.advance(5000);
  const last = await svc.remember("tea ".repeat(10_000), { namespace: "other" });
  const list = (await svc.get("/api/memories?namespace=other")).body.memories;
  const other = (await svc.post("/api/stats", { namespace: "other" })).body;
  assert.deepEqual(other, {
    memory_count: 2,
    storage_bytes: list[0].size_bytes + list[1].size_bytes,
    pending: 0,
    namespace: "other",
    owner: svc.owner,
  });
  const first = (await svc.post("/api/stats", {})).body;
  assert.equal(first.memory_count, 1);
  const { namespaces } = (await svc.get("/api/namespaces")).body;
  assert.deepEqual(namespaces[1], {
    namespace: "other",
    memory_count: 2,
    storage_bytes: other.storage_bytes,
    last_write_at: new Date(durable.clock.now()).toISOString(),
    conflicts: "off",
    deduplicate: false,
  });
  const { quota } = (await svc.get("/api/account")).body;
  const used_bytes = first.storage_bytes + other.storage_bytes;
  assert.deepEqual(quota, { used_bytes, limit_bytes: null });
  await svc.send("DELETE", `/api/memories/${last}`);
  const after = (await svc.get("/api/account")).body.quota.used_bytes;
  assert.equal(after, used_bytes - list[0].size_bytes);
  await svc.post("/api/forget", { namespace: "other" });
  assert.deepEqual((await svc.get("/api/namespaces")).body.total, 1);
});
