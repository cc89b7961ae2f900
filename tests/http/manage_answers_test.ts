import assert from "node:assert/strict";
import { type Json, startRelayer, type TestRelayer } from "../relayer_fixture.ts";
import { verifyReceipt } from "../../src/client/mod.ts";
import { verifies } from "../requirements.ts";
import { IS_ON_POSTGRES } from "../test_store.ts";
import { assertError } from "./case.ts";

/** A server keeps what was deleted until it uses the place again. */
const ERASES = !IS_ON_POSTGRES;

/** Every page of a listing. */
async function pages(svc: TestRelayer, path: string, member: string): Promise<Json[][]> {
  const found: Json[][] = [];
  let cursor: string | undefined;
  do {
    const target: string = cursor === undefined ? path : `${path}&cursor=${cursor}`;
    const { status, body } = await svc.get(target);
    assert.equal(status, 200);
    found.push(body[member]);
    cursor = body.next_cursor;
  } while (cursor !== undefined);
  return found;
}

Deno.test("a listed memory has the fields of its resource", async () => {
  verifies("2-3", "2-4", "2-6", "2-7", "2-17", "10.9-1", "10.9-4", "10.9-7", "10.9-16");
  await using svc = await startRelayer();
  const expires_at = "2999-01-01T00:00:00.000Z";
  const id = await svc.remember("tea", { metadata: { a: 1 }, expires_at });
  const { body } = await svc.get("/api/memories");
  const [memory] = body.memories;
  const { blob_id, created_at, updated_at, size_bytes } = memory;
  assert.deepEqual(body, {
    memories: [{
      memory_id: id,
      namespace: "default",
      text: "tea",
      blob_id,
      status: "done",
      recallable: true,
      version: 1,
      importance: 0.5,
      metadata: { a: 1 },
      expires_at,
      created_at,
      updated_at,
      size_bytes,
      source: "remember",
      written_by: svc.key.publicKey,
      written_by_label: "test",
    }],
    total: 1,
  });
  assert.equal(new Date(created_at).toISOString(), created_at);
  assert.ok(size_bytes > "tea".length && Number.isInteger(size_bytes));
  const { body: one } = await svc.get(`/api/memories/${id}`);
  const versions = [{ version: 1, blob_id, created_at }];
  assert.deepEqual(one, { ...memory, versions });
  const { metadata: _, text: __, written_by: ___, written_by_label: ____, ...rest } = memory;
  assert.deepEqual((await svc.get("/api/memories?text=false")).body.memories, [rest]);
  const { used_bytes } = (await svc.get("/api/account")).body.quota;
  assert.equal(used_bytes, size_bytes);
});

Deno.test("pages hold every memory once, in either order, also while others are written", async () => {
  verifies("10.9-2", "10.9-3", "10.9-5", "10.9-6");
  await using svc = await startRelayer();
  svc.clock.freeze();
  const ids: string[] = [];
  for (let i = 0; i < 7; i++) {
    ids.push(await svc.remember(`tea ${i}`, { namespace: "a b" }));
    svc.clock.advance(i < 3 ? 0 : 1000);
  }
  const list = async (order: string, limit: number) =>
    await pages(svc, `/api/memories?namespace=a%20b&order=${order}&limit=${limit}`, "memories");
  const idsOf = (found: Json[][]) => found.flat().map(({ memory_id }) => memory_id);
  for (const limit of [1, 2, 3, 7, 200]) {
    const oldest = idsOf(await list("oldest", limit));
    assert.deepEqual(oldest.toSorted(), ids.toSorted());
    assert.deepEqual(oldest.slice(4), ids.slice(4));
    assert.deepEqual(idsOf(await list("newest", limit)), oldest.toReversed());
  }
  const path = "/api/memories?namespace=a%20b&limit=4";
  const first = await svc.get(path);
  const later = await svc.remember("later", { namespace: "a b" });
  const second = await svc.get(`${path}&cursor=${first.body.next_cursor}`);
  const seen = idsOf([first.body.memories, second.body.memories]);
  assert.deepEqual(seen.toSorted(), ids.toSorted());
  assert.equal(second.body.next_cursor, undefined);
  assert.equal(second.body.total, 8);
  assert.ok(!seen.includes(later));
  const cursor = first.body.next_cursor;
  for (
    const target of [
      `/api/memories?namespace=other&cursor=${cursor}`,
      `/api/memories?namespace=a%20b&order=oldest&cursor=${cursor}`,
      `/api/memories?namespace=a%20b&cursor=${cursor.slice(1)}`,
    ]
  ) {
    assertError(await svc.get(target), [400, "invalid_cursor"], { field: "cursor" }, target);
  }
  const { key } = await svc.addAccount();
  const stolen = await svc.get(`${path}&cursor=${cursor}`, { key });
  assertError(stolen, [400, "invalid_cursor"], { field: "cursor" });
});

Deno.test("DELETE says what became of the memory", async () => {
  verifies("10.9-27", "10.9-13", "10.9-14", "10.9-8", "10.6-22");
  await using svc = await startRelayer();
  const id = await svc.remember("tea");
  const { blob_id } = (await svc.get(`/api/memories/${id}`)).body;
  const { status, body } = await svc.send("DELETE", `/api/memories/${id}`);
  assert.equal(status, 200);
  const { receipt, ...rest } = body;
  assert.deepEqual(rest, { memory_id: id, deleted: true, blob: "deleted", erased: ERASES });
  assert.deepEqual(verifyReceipt(receipt).memory_ids, [id]);
  const scope = { owner: svc.owner, namespace: "default" };
  assert.equal(await svc.backends.blobStore.get(blob_id, scope), undefined);
  assert.deepEqual(await svc.backends.vectorStore.get(svc.owner, [id]), []);
  assert.deepEqual(await svc.recall("tea"), []);
  for (const method of ["GET", "DELETE"]) {
    const again = await svc.send(method, `/api/memories/${id}`);
    assertError(again, [404, "memory_not_found"]);
  }
});

Deno.test("namespaces and stats count memories and bytes", async () => {
  verifies("10.10-1", "10.10-2", "10.10-3", "2-3");
  await using svc = await startRelayer();
  const names = ["b", "a", "ä", "😀", "B"];
  for (const namespace of names) await svc.remember("tea", { namespace });
  await svc.remember("honey", { namespace: "a" });
  const { body } = await svc.get("/api/namespaces");
  assert.equal(body.total, 5);
  assert.equal(body.next_cursor, undefined);
  for (const item of body.namespaces) {
    assert.deepEqual(Object.keys(item), [
      "namespace",
      "memory_count",
      "storage_bytes",
      "last_write_at",
      "conflicts",
      "deduplicate",
    ]);
    assert.equal(item.memory_count, item.namespace === "a" ? 2 : 1);
    assert.equal(new Date(item.last_write_at).toISOString(), item.last_write_at);
    const { body: stats } = await svc.post("/api/stats", { namespace: item.namespace });
    assert.deepEqual(stats, {
      memory_count: item.memory_count,
      storage_bytes: item.storage_bytes,
      pending: 0,
      namespace: item.namespace,
      owner: svc.owner,
    });
  }
  for (const limit of [1, 2, 5]) {
    const found = await pages(svc, `/api/namespaces?limit=${limit}`, "namespaces");
    assert.ok(found.every((page) => page.length <= limit));
    assert.deepEqual(found.flat(), body.namespaces);
  }
  const { key } = await svc.addAccount();
  assert.deepEqual((await svc.get("/api/namespaces", { key })).body, { namespaces: [], total: 0 });
});

Deno.test("forget deletes one namespace and answers how many memories it had", async () => {
  verifies("10.10-4", "10.10-6", "10.6-22", "10.6-25");
  await using svc = await startRelayer();
  const { key } = await svc.addAccount();
  await svc.remember("tea", { namespace: "a" });
  await svc.remember("honey", { namespace: "a" });
  await svc.remember("tea", { namespace: "b" });
  await svc.remember("tea", { namespace: "a" }, { key });
  const forget = () => svc.post("/api/forget", { namespace: "a" });
  const { status, body } = await forget();
  assert.equal(status, 200);
  const { receipt, ...rest } = body;
  assert.equal(verifyReceipt(receipt).memory_ids.length, 2);
  assert.deepEqual(rest, { deleted: 2, namespace: "a", owner: svc.owner, erased: ERASES });
  assert.equal((await forget()).body.deleted, 0);
  assert.deepEqual(await svc.recall("tea", { namespace: "a" }), []);
  assert.deepEqual(await svc.recall("tea", { namespace: "b" }), ["tea"]);
  assert.deepEqual(await svc.recall("tea", { namespace: "a" }, { key }), ["tea"]);
  await svc.remember("new tea", { namespace: "a" });
  assert.deepEqual(await svc.recall("tea", { namespace: "a" }), ["new tea"]);
});
